// Plans grants and revocations of access tuples. Both are idempotent: a tuple that is there, or is not, changes nothing.

import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import { TUPLE_USERSETS_MAX, TUPLES_MAX } from '../base/limits.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import { checkTuple, personOf, type Tuple, typeOf } from '../govern/access/tuple.ts';
import type { Sequence } from '../log/log.ts';
import type { Memory } from '../store/memory.ts';
import { sealRule, sequenceOf } from '../store/rules.ts';
import { type StoredTuple, tupleCount, tupleCountState, tupleStates } from '../store/tuples.ts';
import { countValue } from './count-value.ts';
import { keepRule } from './govern.ts';
import type { Group } from './group.ts';
import { auditActor, auditedName, pseudonym } from './pseudonym.ts';

export function planGrant(
  group: Group,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['grantTuple']['input'],
): MemoryCalls['grantTuple']['output'] {
  const tuple = checkTuple(input.tuple);
  const states = tupleStates(memory, tuple);
  if (sequenceIn(group, memory, states.byObject) !== undefined) return { created: false, tuple };
  refuseMore(group, memory, tuple);
  refuseBothDuties(group, memory, tuple);
  const person = personOf(tuple.subject);
  const key = person === undefined ? 0 : group.keyOfUser(memory, person);
  const stored: StoredTuple = { ...tuple, atMs: group.nowMs, by: auditActor(memory, context.actor) };
  const sequence = keepRule(group, memory, 'tuple', key, sealRule(memory, 'tuple', key, stored));
  group.setState(states.byObject, sequence);
  group.setState(states.bySubject, sequence);
  counted(group, memory, tuple, sequenceOf(sequence));
  auditChange(group, memory, context, tuple, 'granted');
  return { created: true, tuple };
}

export function planRevoke(
  group: Group,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['revokeTuple']['input'],
): MemoryCalls['revokeTuple']['output'] {
  const tuple = checkTuple(input.tuple);
  const states = tupleStates(memory, tuple);
  const sequence = sequenceIn(group, memory, states.byObject);
  if (sequence === undefined) return { existed: false, tuple };
  // A record of this group cannot be removed with it; it becomes history.
  if (group.peek(memory)?.tuples.get(states.byObject) === undefined) group.removeValues([sequence]);
  group.setState(states.byObject, null);
  group.setState(states.bySubject, null);
  counted(group, memory, tuple, null);
  auditChange(group, memory, context, tuple, 'revoked');
  return { existed: true, tuple };
}

/** The sequence of the tuple's record; undefined if there is no such tuple, this group included. */
function sequenceIn(group: Group, memory: Memory, state: string): Sequence | undefined {
  const planned = group.peek(memory)?.tuples.get(state);
  if (planned !== undefined) return planned ?? undefined;
  const value = group.store.log.getState(state);
  return value === undefined ? undefined : sequenceOf(value);
}

/** The number of tuples, with the changes of this group. */
function countIn(group: Group, memory: Memory): number {
  return group.peek(memory)?.tupleCount ?? tupleCount(group.store.log, memory.number);
}

function counted(group: Group, memory: Memory, tuple: Tuple, sequence: Sequence | null): void {
  const change = sequence === null ? -1 : 1;
  const count = countIn(group, memory) + change;
  const overlay = group.overlay(memory);
  overlay.tuples.set(tupleStates(memory, tuple).byObject, sequence);
  overlay.tupleCount = count;
  if (isUserset(tuple)) {
    const place = relationOf(tuple);
    overlay.usersets.set(place, (overlay.usersets.get(place) ?? 0) + change);
  }
  group.setState(tupleCountState(memory.number), countValue(count));
}

function refuseMore(group: Group, memory: Memory, tuple: Tuple): void {
  if (countIn(group, memory) >= TUPLES_MAX)
    throw new EngineError('LIM-E002', `a memory has at most ${TUPLES_MAX} access tuples`);
  if (isUserset(tuple) && usersetsIn(group, memory, tuple) >= TUPLE_USERSETS_MAX)
    throw new EngineError('LIM-E002', `an object's relation has at most ${TUPLE_USERSETS_MAX} usersets`);
}

/** True for a tuple whose subject a check of access visits in turn. */
function isUserset({ subject, relation }: Tuple): boolean {
  return relation === 'parent' || subject.includes('#');
}

/** The usersets of the tuple's object and relation, with the changes of this group. */
function usersetsIn(group: Group, memory: Memory, tuple: Tuple): number {
  const planned = group.peek(memory)?.usersets.get(relationOf(tuple)) ?? 0;
  return memory.governed.access.usersets(tuple.object, tuple.relation) + planned;
}

function relationOf({ object, relation }: Tuple): string {
  return `${object}#${relation}`;
}

/**
 * Under the segregation of duties no principal is both admin and auditor of a memory. An owner is both by the relation
 * table, so only relations that a tuple names count.
 */
function refuseBothDuties(group: Group, memory: Memory, { subject, relation, object }: Tuple): void {
  if (!memory.governed.rules['access.segregation_of_duties'] || typeOf(object) !== 'memory') return;
  const others = relation === 'auditor' ? ['admin', 'owner'] : ['admin', 'owner'].includes(relation) ? ['auditor'] : [];
  const isGranted = (other: string): boolean =>
    sequenceIn(group, memory, tupleStates(memory, { subject, relation: other, object }).byObject) !== undefined;
  if (!others.some(isGranted)) return;
  throw new EngineError('AUT-E001', 'the policy forbids that a principal is both admin and auditor of a memory', {
    details: [{ field: 'relation', issue: 'access.segregation_of_duties' }],
  });
}

function auditChange(
  group: Group,
  memory: Memory,
  { actor }: CallContext,
  tuple: Tuple,
  change: 'granted' | 'revoked',
): void {
  const person = personOf(tuple.subject);
  group.audit(memory, {
    event: 'authz.changed',
    actor,
    subject: pseudonym(memory, person),
    details: defined({
      change,
      relation: tuple.relation,
      object: auditedName(memory, tuple.object),
      principal: person === undefined ? auditedName(memory, tuple.subject) : undefined,
    }),
  });
  group.onPublish(() => memory.governed.setAccess(tuple));
}
