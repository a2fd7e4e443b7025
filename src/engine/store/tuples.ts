// The access tuples of a memory, in the log's state. A tuple is a rule record, sealed under the key of the person that
// it names, else under the memory's small key. Checks ask the state alone and open only tuples whose subject is a
// userset or a parent, so that a memory with many tuples costs nothing at open and little heap.
//
//   tuple/M/OBJECT/RELATION/gSUBJECT    sequence of the tuple's record; g: a userset
//   tuple/M/OBJECT/RELATION/sSUBJECT    the same for one subject or a wildcard
//   tuple-of/M/SUBJECT/…                the same, by subject: the rest is OBJECT/RELATION and the letter
//   tuple-count/M/all                   the number of tuples
//
// M is the memory's number. OBJECT and SUBJECT are blind tokens. Records that the state does not name are history.
import { ACCESS_OBJECTS_MAX, ACCESS_SUBJECTS_CACHED_MAX } from '../base/limits.ts';
import { Access } from '../govern/access/access.ts';
import type { Pair, Subjects, TupleSource } from '../govern/access/check.ts';
import type { Tuple } from '../govern/access/tuple.ts';
import type { Log, Sequence } from '../log/log.ts';
import { BoundedMap } from './bounded-map.ts';
import { readSealedRule, type SealedMemory, sequenceOf } from './rules.ts';

export interface StoredTuple extends Tuple {
  readonly atMs: number;
  readonly by: string;
}

/** The state entries of one tuple. */
export interface TupleStates {
  readonly byObject: string;
  readonly bySubject: string;
}

/** Usersets come before single subjects, so that one walk finds them and stops at too many subjects. */
const USERSET = 'g';
const DIRECT = 's';

export function tupleStates(memory: SealedMemory, { subject, relation, object }: Tuple): TupleStates {
  const objectToken = tokenOf(memory, object);
  const subjectToken = tokenOf(memory, subject);
  const kind = subject.includes('#') ? USERSET : DIRECT;
  return {
    byObject: `tuple/${memory.number}/${objectToken}/${relation}/${kind}${subjectToken}`,
    bySubject: `tuple-of/${memory.number}/${subjectToken}/${objectToken}/${relation}/${kind}`,
  };
}

/** Prefix of the state entries of all tuples, or of those of an object or a subject. */
export function tuplesState(
  memory: SealedMemory,
  { object, subject }: { readonly object?: string; readonly subject?: string } = {},
): string {
  if (subject !== undefined) return `tuple-of/${memory.number}/${tokenOf(memory, subject)}/`;
  return object === undefined ? `tuple/${memory.number}/` : `tuple/${memory.number}/${tokenOf(memory, object)}/`;
}

/** Both state entries of a tuple, from the name of either. */
export function bothStates(state: string): TupleStates {
  const [topic, memory, first, second, third, fourth] = state.split('/') as string[] & { length: 6 }; // as made above
  if (topic === 'tuple-of')
    return { byObject: `tuple/${memory}/${second}/${third}/${fourth}${first}`, bySubject: state };
  const [kind, subject] = [third!.slice(0, 1), third!.slice(1)];
  return { byObject: state, bySubject: `tuple-of/${memory}/${subject}/${first}/${second}/${kind}` };
}

export function tupleCountState(memory: number): string {
  return `tuple-count/${memory}/all`;
}

export function tupleCount(log: Log, memory: number): number {
  const value = log.getState(tupleCountState(memory));
  return value === undefined ? 0 : sequenceOf(value);
}

/** The tuple of a record; undefined if its person was erased. */
export function tupleAt(log: Log, memory: SealedMemory, sequence: Sequence): StoredTuple | undefined {
  // The plan of a grant sealed it.
  return readSealedRule(log, memory, sequence) as StoredTuple | undefined;
}

/** Access by a memory's tuples, which are read from the log's state. */
export function accessOf(log: Log, memory: SealedMemory): Access {
  return new Access(new StateSource(log, memory), memory.settings.id);
}

class StateSource implements TupleSource {
  readonly #log: Log;
  readonly #memory: SealedMemory;
  readonly #subjects = new BoundedMap<string, Subjects>(ACCESS_OBJECTS_MAX);
  readonly #parents = new BoundedMap<string, readonly string[]>(ACCESS_OBJECTS_MAX);
  readonly #tokens = new BoundedMap<string, string>(ACCESS_OBJECTS_MAX);

  constructor(log: Log, memory: SealedMemory) {
    this.#log = log;
    this.#memory = memory;
  }

  subjectsOf(pair: Pair): Subjects {
    const known = this.#subjects.get(pair.text);
    if (known !== undefined) return known;
    const subjects = this.#readSubjects(this.#place(pair.object, pair.relation));
    this.#subjects.set(pair.text, subjects);
    return subjects;
  }

  parents(object: string): readonly string[] {
    const known = this.#parents.get(object);
    if (known !== undefined) return known;
    const place = this.#place(object, 'parent');
    const parents = this.#texts([...this.#log.scanState(place)].map(([, value]) => sequenceOf(value)));
    this.#parents.set(object, parents);
    return parents;
  }

  changed(tuple: Tuple | undefined): void {
    if (tuple === undefined) {
      this.#subjects.clear();
      this.#parents.clear();
    } else {
      this.#subjects.delete(`${tuple.object}#${tuple.relation}`);
      if (tuple.relation === 'parent') this.#parents.delete(tuple.object);
    }
  }

  #readSubjects(place: string): Subjects {
    const sets: Sequence[] = [];
    // Tokens of single subjects and wildcards; undefined if there are too many to be cached.
    let direct: Set<string> | undefined = new Set();
    for (const [name, value] of this.#log.scanState(place)) {
      if (name[place.length] === USERSET) sets.push(sequenceOf(value));
      else if (direct.size < ACCESS_SUBJECTS_CACHED_MAX) direct.add(name.slice(place.length + 1));
      else {
        direct = undefined;
        break;
      }
    }
    const usersets = this.#texts(sets);
    return {
      usersets,
      has: (subject) => {
        if (subject.includes('#')) return usersets.includes(subject);
        if (direct?.size === 0) return false;
        const token = this.#token(subject);
        return direct?.has(token) ?? this.#log.getState(`${place}${DIRECT}${token}`) !== undefined;
      },
    };
  }

  /** The subjects of these tuples, in the order of their grants. */
  #texts(sequences: readonly Sequence[]): readonly string[] {
    return sequences
      .toSorted((one, other) => one - other)
      .flatMap((sequence) => tupleAt(this.#log, this.#memory, sequence)?.subject ?? []);
  }

  #place(object: string, relation: string): string {
    return `tuple/${this.#memory.number}/${this.#token(object)}/${relation}/`;
  }

  #token(text: string): string {
    const known = this.#tokens.get(text);
    if (known !== undefined) return known;
    const token = tokenOf(this.#memory, text);
    this.#tokens.set(text, token);
    return token;
  }
}

function tokenOf(memory: SealedMemory, text: string): string {
  return memory.tokens.facet('access', text).toString('hex');
}
