// An append as one statement. Its first part raises the shard's append number, if token and number are the owner's; the
// others take their shard from what it returns, and so write nothing without it. Frames travel as one value, with where
// each begins and how long it is: -1 for one that is deleted.
import type { PendingQuery, Row } from 'postgres';
import type { NumberedAppend } from '../numbered-append.ts';
import { endOf, recordCount } from '../numbered-append.ts';
import type { Sql } from './database.ts';

export interface Owned {
  readonly shard: number;
  readonly token: number;
}

/** Parts of one value, in the form in which the statement takes them. */
interface Parts {
  readonly bytes: Buffer;
  /** Texts of arrays: the first byte of each part, from 1, and their lengths. */
  readonly starts: string;
  readonly lengths: string;
}

/** Resolves true when the append was written, false when token or number were not the shard's. */
export async function sendAppend(sql: Sql, { shard, token }: Owned, append: NumberedAppend): Promise<boolean> {
  const { number } = append;
  const { sequences, changed, frames } = recordsOf(append);
  const state = new Map(append.state);
  const keys = parts([...state.keys()].map((key) => Buffer.from(key, 'latin1')));
  const values = parts([...state.values()]);
  const slots = append.keySlots ?? [];
  const slotParts = parts(slots.map(([, slot]) => slot));
  const slotIds = arrayText(slots.map(([id]) => id));
  // New records alone need no look at existing ones.
  const onConflict = changed === '{}' ? sql`` : sql`ON CONFLICT (shard, sequence) DO UPDATE SET frame = excluded.frame`;
  const rows = await sql`
    WITH owner AS (
      UPDATE granary_shards SET appends = ${number}, next = ${endOf(append)}
      WHERE shard = ${shard} AND token = ${token} AND appends = ${number - 1}
      RETURNING shard
    ), records AS (
      INSERT INTO granary_records (shard, sequence, frame)
      SELECT owner.shard, part.sequence,
        CASE WHEN part.bytes < 0 THEN NULL ELSE substring(${given(sql, frames.bytes)} FROM part.start FOR part.bytes) END
      FROM owner, unnest(${sequences}::int8[], ${frames.starts}::int4[], ${frames.lengths}::int4[])
        AS part (sequence, start, bytes)
      ${onConflict}
    ), changes AS (
      INSERT INTO granary_changes (shard, append, sequence)
      SELECT owner.shard, ${number}, part.sequence FROM owner, unnest(${changed}::int8[]) AS part (sequence)
    ), states AS (
      INSERT INTO granary_state (shard, key, frame, append)
      SELECT owner.shard, substring(${keys.bytes}::bytea FROM part.key_start FOR part.key_bytes),
        CASE WHEN part.bytes < 0 THEN NULL ELSE substring(${given(sql, values.bytes)} FROM part.start FOR part.bytes) END,
        ${number}
      FROM owner, unnest(${keys.starts}::int4[], ${keys.lengths}::int4[], ${values.starts}::int4[],
        ${values.lengths}::int4[]) AS part (key_start, key_bytes, start, bytes)
      ON CONFLICT (shard, key) DO UPDATE SET frame = excluded.frame, append = excluded.append
    )${
      slots.length === 0
        ? sql``
        : sql`, slots AS (
      INSERT INTO granary_keys (shard, id, slot)
      SELECT owner.shard, part.id, substring(${slotParts.bytes}::bytea FROM part.start FOR part.bytes)
      FROM owner, unnest(${slotIds}::int8[], ${slotParts.starts}::int4[], ${slotParts.lengths}::int4[])
        AS part (id, start, bytes)
      ON CONFLICT (shard, id) DO UPDATE SET slot = excluded.slot
    )`
    }
    SELECT shard FROM owner`;
  return rows.length > 0;
}

/**
 * Bytes as a value of a statement. The library writes bytes as hexadecimal text, which is half as long again as base64 and costs twice
 * the CPU time. A subquery of its own: the database decodes it once, and not for each row.
 */
export function given(sql: Sql, bytes: Buffer): PendingQuery<Row[]> {
  return sql`(SELECT decode(${bytes.toString('base64')}, 'base64'))`;
}

/** The records that the append writes, and those of them that existed before. */
function recordsOf(append: NumberedAppend) {
  const { first, replacements, removals } = append;
  // A record that is replaced and removed is removed.
  const changes = new Map<number, Buffer | null>(replacements);
  for (const sequence of removals) changes.set(sequence, null);
  const added = Array.from({ length: recordCount(append) }, (_, i) => first + i);
  const changed = [...changes.keys()];
  return {
    sequences: arrayText([...added, ...changed]),
    changed: arrayText(changed),
    frames: parts([...changes.values()], append.frames, append.offsets),
  };
}

/** `pieces` after those that `before` already holds, which end where `offsets` says. */
export function parts(pieces: readonly (Buffer | null)[], before?: Buffer, offsets: Uint32Array = NO_OFFSETS): Parts {
  const starts: number[] = [];
  const lengths: number[] = [];
  for (let i = 0; i + 1 < offsets.length; i++) {
    starts.push(offsets[i]! + 1);
    lengths.push(offsets[i + 1]! - offsets[i]!);
  }
  let at = before?.length ?? 0;
  for (const piece of pieces) {
    starts.push(at + 1);
    lengths.push(piece === null ? -1 : piece.length);
    at += piece?.length ?? 0;
  }
  const own = pieces.filter((piece) => piece !== null);
  const bytes =
    own.length === 0 && before !== undefined ? before : Buffer.concat([...(before ? [before] : []), ...own]);
  return { bytes, starts: arrayText(starts), lengths: arrayText(lengths) };
}

const NO_OFFSETS = new Uint32Array(1);

export function arrayText(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`;
}
