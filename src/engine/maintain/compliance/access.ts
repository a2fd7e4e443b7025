// Evidence on access tuples: whether they are well formed, who they put in charge, and whether a stranger gets anything.

import { EngineError } from '../../base/errors.ts';
import type { AccessEvidence } from '../../calls/compliance.ts';
import { checkTuple, personOf, RELATION_TABLE, type Tuple, typeOf, usersetOf } from '../../govern/access/tuple.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Memory } from '../../store/memory.ts';
import { sequenceOf } from '../../store/rules.ts';
import type { Store } from '../../store/store.ts';
import { tupleAt, tuplesState } from '../../store/tuples.ts';

/** Objects about which a stranger is asked. */
const OBJECTS_ASKED_MAX = 200;
const NAMES_MAX = 1_000;
const STRANGERS = ['user', 'agent', 'service'] as const;

export function* accessEvidence(store: Store, memory: Memory, random: () => number): Sliced<AccessEvidence> {
  const { access } = memory.governed;
  const read: Tuple[] = [];
  let tuples = 0;
  let malformed = 0;
  for (const [, value] of store.log.scanState(tuplesState(memory))) {
    tuples += 1;
    const tuple = tupleAt(store.log, memory, sequenceOf(value));
    if (tuple !== undefined) read.push(tuple);
    if (tuple !== undefined && !isWellFormed(tuple)) malformed += 1;
    yield;
  }
  const objects = new Set(read.map(({ object }) => object));
  const ofMemory = (...relations: readonly string[]) =>
    read.filter(({ object, relation }) => object === access.memoryObject && relations.includes(relation));
  const inCharge = ofMemory('owner', 'admin', 'auditor');
  const owners = ofMemory('owner').length;
  return {
    tuples,
    read: read.length,
    malformed,
    dangling: read.filter((tuple) => isDangling(tuple, objects, access.memoryObject)).length,
    ...(yield* strangers(memory, [...objects].slice(0, OBJECTS_ASKED_MAX), random)),
    owners,
    others: read.length - owners,
    admins: namesOf(ofMemory('owner', 'admin')),
    auditors: namesOf(ofMemory('auditor')),
    persons: new Set(inCharge.flatMap(({ subject }) => personOf(subject) ?? [])).size,
  };
}

function isWellFormed(tuple: Tuple): boolean {
  try {
    checkTuple(tuple);
    return true;
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

/** A group without members, or a parent that is neither this memory nor the object of a tuple. */
function isDangling({ subject, relation }: Tuple, objects: ReadonlySet<string>, memory: string): boolean {
  const named = relation === 'parent' ? subject : usersetOf(subject)?.object;
  return named !== undefined && named !== memory && !objects.has(named);
}

function* strangers(
  memory: Memory,
  objects: readonly string[],
  random: () => number,
): Sliced<Pick<AccessEvidence, 'strangersAsked' | 'strangersAllowed'>> {
  const { access } = memory.governed;
  const name = `stranger-${Math.floor(random() * 2 ** 40).toString(36)}`;
  const allowed = new Set<string>();
  let asked = 0;
  for (const object of new Set([access.memoryObject, ...objects]))
    for (const relation of RELATION_TABLE[typeOf(object)] ?? [])
      for (const type of STRANGERS) {
        asked += 1;
        if (access.check({ subject: `${type}:${name}`, relation, object }).allowed)
          allowed.add(`${relation} of a ${typeOf(object)} for ${type}:*`);
        yield;
      }
  return { strangersAsked: asked, strangersAllowed: [...allowed].slice(0, 20) };
}

/** Each subject once. */
function namesOf(tuples: readonly Tuple[]): readonly string[] {
  return [...new Set(tuples.map(({ subject }) => subject))].slice(0, NAMES_MAX);
}
