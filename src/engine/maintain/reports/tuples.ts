// Lists the access tuples of a memory.

import { defined } from '../../base/defined.ts';
import type { TupleView } from '../../calls/access.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import { checkObject, checkSubject } from '../../govern/access/tuple.ts';
import type { Sequence } from '../../log/log.ts';
import type { Memory } from '../../store/memory.ts';
import { sequenceOf } from '../../store/rules.ts';
import type { Store } from '../../store/store.ts';
import { type StoredTuple, tupleAt, tuplesState } from '../../store/tuples.ts';

type Input = MemoryCalls['tuples']['input'];
type Output = MemoryCalls['tuples']['output'];

/** Entries of the state that are read between two yields. */
const READ_EACH = 512;

/** In the order of the tuples' records, whose sequences are their places. Yields while it reads the state. */
export function* listTuples(store: Store, memory: Memory, input: Input): Generator<void, Output, void> {
  const { order, after, offset, limit } = input;
  const sequences = yield* places(store, memory, input);
  sequences.sort(order === 'asc' ? (one, other) => one - other : (one, other) => other - one);
  const rest = after === undefined ? sequences : sequences.filter((at) => (order === 'asc' ? at > after : at < after));
  const tuples: TupleView[] = [];
  const shown = rest.slice(offset, offset + limit);
  for (const sequence of shown) {
    const tuple = tupleAt(store.log, memory, sequence);
    if (tuple !== undefined) tuples.push(viewOf(tuple));
    yield;
  }
  const last = shown.at(-1);
  return defined({
    tuples,
    total: sequences.length,
    next: last === undefined || rest.length <= offset + limit ? undefined : last,
  });
}

function* places(store: Store, memory: Memory, { object, subject }: Input): Generator<void, Sequence[], void> {
  const wanted = object === undefined ? undefined : checkObject(object);
  const prefix = tuplesState(
    memory,
    defined({
      object: wanted,
      subject: subject === undefined ? undefined : checkSubject(subject),
    }),
  );
  const sequences: Sequence[] = [];
  let read = 0;
  for (const [, value] of store.log.scanState(prefix)) {
    const sequence = sequenceOf(value);
    // The state is searched by subject only; the object is compared here.
    const isWanted =
      wanted === undefined || subject === undefined || tupleAt(store.log, memory, sequence)?.object === wanted;
    if (isWanted) sequences.push(sequence);
    read += 1;
    if (read % READ_EACH === 0) yield;
  }
  return sequences;
}

function viewOf({ atMs, by, ...tuple }: StoredTuple): TupleView {
  return { ...tuple, grantedAt: Math.floor(atMs / 1000), grantedBy: by };
}
