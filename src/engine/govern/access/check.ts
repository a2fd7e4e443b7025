// Whether a subject has a relation to an object, by the tuples of a memory. The search is breadth first over pairs of
// object and relation, each visited once. A circle of tuples therefore ends, and the shortest way is found, so that the
// bound of depth does not depend on the order of the tuples.

import { ACCESS_DEPTH_MAX, ACCESS_VISITED_MAX } from '../../base/limits.ts';
import { defaultParent, hasRelation, includesOf, type Tuple, throughParent, usersetOf, wildcardOf } from './tuple.ts';

/** An object and a relation to it. */
export interface Pair {
  readonly object: string;
  readonly relation: string;
  /** Both as one text, which is that of the userset: `type:id#relation`. */
  readonly text: string;
}

/** The subjects that have one relation to one object. */
export interface Subjects {
  /** True if exactly the tuple of this subject exists. */
  has(subject: string): boolean;
  /** Those that are usersets, as texts. */
  readonly usersets: readonly string[];
}

/** The tuples of a memory, as a check asks for them. */
export interface TupleSource {
  subjectsOf(pair: Pair): Subjects;
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
interface Step extends Pair {
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
  const steps: Step[] = [{ ...pairOf(object, relation), depth: 0, before: undefined, by: undefined }];
  const visited = new Set([steps[0]!.text]);
  let isTooDeep = false;
  let isTooMuch = false;
  const go = (before: Step, { object, relation, text }: Pair, by: Tuple | undefined) => {
    if (visited.has(text) || !hasRelation(object, relation)) return;
    if (before.depth >= ACCESS_DEPTH_MAX) {
      isTooDeep = true;
      return;
    }
    if (visited.size >= ACCESS_VISITED_MAX) {
      isTooMuch = true;
      return;
    }
    const deniedFrom = known.denied.get(text);
    if (deniedFrom !== undefined && before.depth + 1 >= deniedFrom) {
      if (deniedFrom !== EVERYWHERE) isTooDeep = true;
      return;
    }
    visited.add(text);
    steps.push({ object, relation, text, depth: before.depth + 1, before, by });
  };
  const restFrom = ({ object, relation }: Pair, subjects: Subjects): Rest | undefined => {
    const isWildcard = !subjects.has(subject);
    if (isWildcard && (wildcard === undefined || !subjects.has(wildcard))) return undefined;
    return { steps: 0, path: [{ subject: isWildcard ? wildcard! : subject, relation, object }] };
  };
  // The list grows while it is walked.
  for (let i = 0; i < steps.length; i++) {
    const at = steps[i]!;
    const learned = known.allowed.get(at.text);
    if (learned !== undefined && at.depth + learned.steps <= ACCESS_DEPTH_MAX) return found(at, learned, known);
    const subjects = source.subjectsOf(at);
    const rest = restFrom(at, subjects);
    if (rest !== undefined) return found(at, rest, known);
    for (const text of subjects.usersets) {
      const userset = usersetOf(text);
      if (userset !== undefined)
        go(at, { ...userset, text }, { subject: text, relation: at.relation, object: at.object });
    }
    for (const included of includesOf(at.object, at.relation)) go(at, pairOf(at.object, included), undefined);
    const inherited = throughParent(at.object, at.relation);
    if (inherited === undefined) continue;
    const named = source.parents(at.object);
    for (const parent of named)
      go(at, pairOf(parent, inherited), { subject: parent, relation: 'parent', object: at.object });
    const parent = named.length > 0 ? undefined : defaultParent(at.object, memory);
    if (parent !== undefined) go(at, pairOf(parent, inherited), undefined);
  }
  // A search that visited too much may have left out the pairs below any of those that it visited.
  if (!isTooMuch)
    for (const { text, depth } of steps)
      known.denied.set(text, isTooDeep ? Math.min(depth, known.denied.get(text) ?? depth) : EVERYWHERE);
  return { allowed: false, path: [], depthExceeded: isTooDeep || isTooMuch };
}

/** The answer, and what it says of the pairs on the way. */
function found(last: Step, rest: Rest, known: Known): Checked {
  let { steps, path } = rest;
  for (let step: Step | undefined = last; step !== undefined; step = step.before) {
    known.allowed.set(step.text, { steps, path });
    if (step.by !== undefined) path = [step.by, ...path];
    steps += 1;
  }
  return { allowed: true, path, depthExceeded: false };
}

export function pairOf(object: string, relation: string): Pair {
  return { object, relation, text: `${object}#${relation}` };
}
