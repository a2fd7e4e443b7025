// Whether a subject has a relation to an object, by the tuples of a memory. The search is breadth first over pairs of
// object and relation, each visited once. A circle of tuples therefore ends, and the shortest way is found, so that the
// bound of depth does not depend on the order of the tuples.

import { ACCESS_DEPTH_MAX, ACCESS_VISITED_MAX } from '../../base/limits.ts';
import { defaultParent, hasRelation, includesOf, type Tuple, throughParent, usersetOf, wildcardOf } from './tuple.ts';

/** The tuples of a memory, as a check asks for them. */
export interface TupleSource {
  /** True if exactly this tuple exists. */
  has(object: string, relation: string, subject: string): boolean;
  /** The subjects of an object and relation that are usersets, as texts. */
  usersets(object: string, relation: string): readonly string[];
  /** The subjects of `parent` of the object. */
  parents(object: string): readonly string[];
  /** Drops what it caches of this tuple's object and relation, or all. */
  changed(tuple: Tuple | undefined): void;
}

export interface Checked {
  readonly allowed: boolean;
  /** The tuples that give the relation, from the object to the subject; empty if it is not given. */
  readonly path: readonly Tuple[];
  /** True if the relation was not found, and the search ended at a bound. */
  readonly depthExceeded: boolean;
}

/** A pair of object and relation to be searched, and the tuple that leads to it from the one before. */
interface Step {
  readonly object: string;
  readonly relation: string;
  readonly depth: number;
  readonly before: Step | undefined;
  readonly by: Tuple | undefined;
}

/** Results of earlier checks of one subject, by pair of object and relation. They hold until a tuple changes. */
export interface Known {
  /**
   * Pairs that do not give the relation, with the depth from which this is so, or EVERYWHERE: a search that ended at the
   * bound of depth says nothing of a pair that the next search reaches sooner.
   */
  readonly denied: Map<string, number>;
  readonly allowed: Map<string, Rest>;
}

const EVERYWHERE = -1;

/** The steps and the tuples from a pair that gives the relation to the subject. */
interface Rest {
  readonly steps: number;
  readonly path: readonly Tuple[];
}

/**
 * `memory` is the object that stands for the memory itself: `memory:` and its id. `known` spares a search what earlier
 * ones of the same subject visited, and learns from it: namespaces share their parents and the groups of these.
 */
export function checkAccess(
  source: TupleSource,
  memory: string,
  { subject, relation, object }: Tuple,
  known: Known = { denied: new Map(), allowed: new Map() },
): Checked {
  const wildcard = wildcardOf(subject);
  const steps: Step[] = [{ object, relation, depth: 0, before: undefined, by: undefined }];
  const visited = new Set([keyOf(object, relation)]);
  let isTooDeep = false;
  let isTooMuch = false;
  const go = (before: Step, next: { readonly object: string; readonly relation: string }, by: Tuple | undefined) => {
    if (!hasRelation(next.object, next.relation)) return;
    const key = keyOf(next.object, next.relation);
    if (visited.has(key)) return;
    if (before.depth >= ACCESS_DEPTH_MAX) {
      isTooDeep = true;
      return;
    }
    if (visited.size >= ACCESS_VISITED_MAX) {
      isTooMuch = true;
      return;
    }
    const deniedFrom = known.denied.get(key);
    if (deniedFrom !== undefined && before.depth + 1 >= deniedFrom) {
      if (deniedFrom !== EVERYWHERE) isTooDeep = true;
      return;
    }
    visited.add(key);
    steps.push({ ...next, depth: before.depth + 1, before, by });
  };
  const restFrom = (at: Step): Rest | undefined => {
    const holder = [subject, wildcard].find((one) => one !== undefined && source.has(at.object, at.relation, one));
    if (holder === undefined) return undefined;
    return { steps: 0, path: [{ subject: holder, relation: at.relation, object: at.object }] };
  };
  // The list grows while it is walked.
  for (let i = 0; i < steps.length; i++) {
    const at = steps[i]!;
    const rest = known.allowed.get(keyOf(at.object, at.relation)) ?? restFrom(at);
    if (rest !== undefined && at.depth + rest.steps <= ACCESS_DEPTH_MAX) return found(at, rest, known);
    for (const member of source.usersets(at.object, at.relation)) {
      const userset = usersetOf(member);
      if (userset !== undefined) go(at, userset, { subject: member, relation: at.relation, object: at.object });
    }
    for (const included of includesOf(at.object, at.relation))
      go(at, { object: at.object, relation: included }, undefined);
    const inherited = throughParent(at.object, at.relation);
    if (inherited === undefined) continue;
    const named = source.parents(at.object);
    for (const parent of named)
      go(at, { object: parent, relation: inherited }, { subject: parent, relation: 'parent', object: at.object });
    const parent = named.length > 0 ? undefined : defaultParent(at.object, memory);
    if (parent !== undefined) go(at, { object: parent, relation: inherited }, undefined);
  }
  // A search that visited too much may have left out the pairs below any of those that it visited.
  if (!isTooMuch)
    for (const { object, relation, depth } of steps) {
      const key = keyOf(object, relation);
      known.denied.set(key, isTooDeep ? Math.min(depth, known.denied.get(key) ?? depth) : EVERYWHERE);
    }
  return { allowed: false, path: [], depthExceeded: isTooDeep || isTooMuch };
}

/** The answer, and what it says of the pairs on the way. */
function found(last: Step, rest: Rest, known: Known): Checked {
  let { steps, path } = rest;
  for (let step: Step | undefined = last; step !== undefined; step = step.before) {
    known.allowed.set(keyOf(step.object, step.relation), { steps, path });
    if (step.by !== undefined) path = [step.by, ...path];
    steps += 1;
  }
  return { allowed: true, path, depthExceeded: false };
}

function keyOf(object: string, relation: string): string {
  return `${object}#${relation}`;
}
