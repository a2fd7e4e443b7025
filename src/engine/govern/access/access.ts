// Decides by the tuples of a memory who may do what in it. Answers are cached until a tuple changes. Decisions about many grains ask
// once for each namespace.

import { ACCESS_ANSWERS_MAX, ACCESS_KNOWN_MAX, ACCESS_VIEWS_MAX } from '../../base/limits.ts';
import { type Checked, checkAccess, type Known, pairOf, type TupleSource } from './check.ts';
import { type GrainRelation, type MemoryRelation, namespaceObject, type Tuple } from './tuple.ts';

/** The namespaces in which a subject has a relation to the grains. */
export interface AccessView {
  /** A cache key that differs for every subject and relation. */
  readonly key: string;
  /** True if the subject has the relation to the memory, and so to all its namespaces. */
  readonly hasAll: boolean;
  has(namespace: string): boolean;
}

export class Access {
  readonly #source: TupleSource;
  /** The object that stands for the memory. */
  readonly #memory: string;
  /** Answers of checks; the oldest are dropped first. */
  readonly #answers = new Map<string, Checked>();
  readonly #views = new Map<string, AccessView>();
  /** Intermediate results of the checks of each subject. The subject that was added first is dropped first. */
  readonly #known = new Map<string, Known>();
  #knownPairs = 0;

  constructor(source: TupleSource, memoryId: string) {
    this.#source = source;
    this.#memory = `memory:${memoryId}`;
  }

  /** The name of the memory in tuples. */
  get memoryObject(): string {
    return this.#memory;
  }

  check(tuple: Tuple): Checked {
    // A control character cannot occur in a part.
    const key = `${tuple.subject}\n${tuple.relation}\n${tuple.object}`;
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = this.#searched(tuple);
    keep(this.#answers, key, answer, ACCESS_ANSWERS_MAX);
    return answer;
  }

  #searched(tuple: Tuple): Checked {
    const { subject } = tuple;
    const known = this.#known.get(subject) ?? { denied: new Map(), allowed: new Map() };
    const before = pairsIn(known);
    const answer = checkAccess(this.#source, this.#memory, tuple, known);
    this.#known.set(subject, known);
    this.#knownPairs += pairsIn(known) - before;
    for (const [other, dropped] of this.#known) {
      if (this.#knownPairs <= ACCESS_KNOWN_MAX) break;
      this.#known.delete(other);
      this.#knownPairs -= pairsIn(dropped);
    }
    return answer;
  }

  hasOnMemory(subject: string, relation: MemoryRelation): boolean {
    return this.check({ subject, relation, object: this.#memory }).allowed;
  }

  /** The namespaces in which `subject` has `relation`. */
  view(subject: string, relation: GrainRelation): AccessView {
    const key = `${relation}\n${subject}`;
    const known = this.#views.get(key);
    if (known !== undefined) return known;
    const hasAll = this.hasOnMemory(subject, relation);
    const view: AccessView = {
      key,
      hasAll,
      has: (namespace) => hasAll || this.check({ subject, relation, object: namespaceObject(namespace) }).allowed,
    };
    keep(this.#views, key, view, ACCESS_VIEWS_MAX);
    return view;
  }

  /** Drops what was concluded before the change of this tuple, or of unknown ones. */
  changed(tuple?: Tuple): void {
    this.#source.changed(tuple);
    this.#answers.clear();
    this.#views.clear();
    this.#known.clear();
    this.#knownPairs = 0;
  }

  /** The number of usersets to which the relation to the object is given. */
  usersets(object: string, relation: string): number {
    if (relation === 'parent') return this.#source.parents(object).length;
    return this.#source.subjectsOf(pairOf(object, relation)).usersets.length;
  }
}

function pairsIn({ denied, allowed }: Known): number {
  return denied.size + allowed.size;
}

function keep<V>(cache: Map<string, V>, key: string, value: V, max: number): void {
  if (cache.size >= max) cache.delete(cache.keys().next().value ?? key);
  cache.set(key, value);
}
