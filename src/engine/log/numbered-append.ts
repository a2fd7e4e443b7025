// An append in the form in which it is written: framed, and with its number.
import { frame, frameBlock } from './frame.ts';
import type { Append, Sequence } from './log.ts';

/** One append of a log. Its arrays and bytes are not changed any more. */
export interface NumberedAppend {
  /** The log's append counter after this append: one more than that of the append before. */
  readonly number: number;
  /** The sequence number of the first record. */
  readonly first: Sequence;
  /** The frames of the records, one after the other. */
  readonly frames: Buffer;
  /** Where each frame begins in `frames`, and where the last one ends: one more than there are records. */
  readonly offsets: Uint32Array;
  /** Frames that replace those of earlier records. */
  readonly replacements: readonly (readonly [sequence: Sequence, frame: Buffer])[];
  readonly removals: readonly Sequence[];
  /** Frames of state values; null deletes. */
  readonly state: readonly (readonly [key: string, frame: Buffer | null])[];
  /** Slots of a key store, which only a database takes. */
  readonly keySlots?: readonly (readonly [id: number, slot: Buffer])[] | undefined;
  /** Bytes of all frames. */
  readonly bytes: number;
}

/** Copies what `append` holds into frames. */
export function numberAppend(append: Append, number: number, first: Sequence): NumberedAppend {
  const { records, replacements = [], removals = [], state = [] } = append;
  const { frames, offsets } = frameBlock(records, first);
  const replaced = replacements.map(([sequence, bytes]) => [sequence, frame(bytes, sequence)] as const);
  const states = state.map(([key, value]) => [key, value === null ? null : frame(value, 0)] as const);
  let bytes = frames.length;
  for (const [, framed] of replaced) bytes += framed.length;
  for (const [, framed] of states) bytes += framed?.length ?? 0;
  const keySlots = append.keySlots?.map(([id, slot]) => [id, Buffer.from(slot)] as const);
  const removed = [...removals];
  return { number, first, frames, offsets, replacements: replaced, removals: removed, state: states, keySlots, bytes };
}

export function recordCount({ offsets }: NumberedAppend): number {
  return offsets.length - 1;
}

/** The frame of the i-th record: a view. */
export function frameAt({ frames, offsets }: NumberedAppend, i: number): Buffer {
  return frames.subarray(offsets[i], offsets[i + 1]);
}

/** The sequence number after the last record. */
export function endOf(append: NumberedAppend): Sequence {
  return append.first + recordCount(append);
}
