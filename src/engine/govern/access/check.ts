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

/** `memory` is the object that stands for the memory itself: `memory:` and its id. */
export function checkAccess(source: TupleSource, memory: string, { subject, relation, object }: Tuple): Checked {
  const wildcard = wildcardOf(subject);
  const steps: Step[] = [{ object, relation, depth: 0, before: undefined, by: undefined }];
  const visited = new Set([keyOf(object, relation)]);
  let isCut = false;
  const go = (before: Step, next: { readonly object: string; readonly relation: string }, by: Tuple | undefined) => {
    if (!hasRelation(next.object, next.relation)) return;
    const key = keyOf(next.object, next.relation);
    if (visited.has(key)) return;
    if (before.depth >= ACCESS_DEPTH_MAX || visited.size >= ACCESS_VISITED_MAX) {
      isCut = true;
      return;
    }
    visited.add(key);
    steps.push({ ...next, depth: before.depth + 1, before, by });
  };
  // The list grows while it is walked.
  for (let i = 0; i < steps.length; i++) {
    const at = steps[i]!;
    const found = [subject, wildcard].find((one) => one !== undefined && source.has(at.object, at.relation, one));
    if (found !== undefined)
      return {
        allowed: true,
        path: pathTo(at, { subject: found, relation: at.relation, object: at.object }),
        depthExceeded: false,
      };
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
  return { allowed: false, path: [], depthExceeded: isCut };
}

function pathTo(last: Step, found: Tuple): readonly Tuple[] {
  const path = [found];
  for (let step: Step | undefined = last; step !== undefined; step = step.before)
    if (step.by !== undefined) path.unshift(step.by);
  return path;
}

function keyOf(object: string, relation: string): string {
  return `${object}#${relation}`;
}
