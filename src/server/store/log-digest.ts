// Counts and hashes a shard in the same way in a data directory and in a database, so that a move is checked.
import { createHash } from 'node:crypto';
import { EngineError } from '../../engine/base/errors.ts';
import { DATABASE_PAGE_BYTES, DATABASE_PAGE_RECORDS } from '../../engine/base/limits.ts';
import type { SlotChange } from '../../engine/keys/buckets.ts';
import { frame } from '../../engine/log/frame.ts';
import type { Log } from '../../engine/log/log.ts';
import type { Database } from '../../engine/log/postgres/database.ts';
import { StoredLog } from '../../engine/log/postgres/stored-log.ts';

export interface ShardDigest {
  readonly records: number;
  /** Notes of the heads of audit chains among the state. */
  readonly auditHeads: number;
  readonly keys: number;
  /** SHA-256 over all records, state values and slots of keys, in hexadecimal form. */
  readonly checksum: string;
}

type RecordPage = readonly (readonly [sequence: number, frame: Buffer])[];
type StatePage = readonly (readonly [key: Buffer, frame: Buffer])[];

export class DigestBuilder {
  readonly #hash = createHash('sha256');
  #records = 0;
  #auditHeads = 0;
  #keys = 0;

  putRecords(records: Iterable<readonly [sequence: number, frame: Buffer | null]>): void {
    for (const [sequence, bytes] of records) {
      if (bytes === null) continue;
      this.#records += 1;
      this.#add('record', String(sequence), bytes);
    }
  }

  putState(entries: Iterable<readonly [key: Buffer, frame: Buffer | null]>): void {
    for (const [key, bytes] of entries) {
      if (bytes === null) continue;
      const name = key.toString('latin1');
      if (name.startsWith('audit-head/')) this.#auditHeads += 1;
      this.#add('state', name, bytes);
    }
  }

  putSlots(slots: Iterable<SlotChange>): void {
    for (const [id, slot] of slots) {
      this.#keys += 1;
      this.#add('key', String(id), slot);
    }
  }

  get digest(): ShardDigest {
    const checksum = this.#hash.copy().digest('hex');
    return { records: this.#records, auditHeads: this.#auditHeads, keys: this.#keys, checksum };
  }

  #add(kind: string, name: string, bytes: Uint8Array): void {
    this.#hash.update(`${kind} ${name} ${bytes.length}\n`);
    this.#hash.update(bytes);
  }
}

/** `slots`: those of its keys, by id. */
export async function digestOfStored(
  database: Database,
  shard: number,
  slots: Iterable<SlotChange>,
): Promise<ShardDigest> {
  const builder = new DigestBuilder();
  const stored = new StoredLog(database, builder, shard);
  await stored.records(1);
  await stored.state(undefined);
  builder.putSlots(slots);
  return builder.digest;
}

export function digestOfLog(log: Log, slots: Iterable<SlotChange>): ShardDigest {
  const builder = new DigestBuilder();
  for (const page of recordPages(log)) builder.putRecords(page);
  for (const page of statePages(log)) builder.putState(page);
  builder.putSlots(slots);
  return builder.digest;
}

/** All records with their frames. Throws STO-E001 for a damaged one. */
export function recordPages(log: Log): Iterable<RecordPage> {
  return paged(framesOf(log), ([, bytes]) => bytes.length);
}

/** All state values with their frames, in the order of their keys' bytes. */
export function statePages(log: Log): Iterable<StatePage> {
  return paged(valuesOf(log), ([key, bytes]) => key.length + bytes.length);
}

function* framesOf(log: Log): Iterable<readonly [number, Buffer]> {
  for (const record of log.scan(1)) {
    if (record instanceof Error)
      throw new EngineError('STO-E001', `${record.message}: restore a backup, and move that`);
    yield [record.sequence, frame(record.bytes, record.sequence)];
  }
}

function* valuesOf(log: Log): Iterable<readonly [Buffer, Buffer]> {
  for (const [key, value] of log.scanState('')) yield [Buffer.from(key, 'latin1'), frame(value, 0)];
}

function* paged<T>(items: Iterable<T>, bytesOf: (item: T) => number): Iterable<T[]> {
  let page: T[] = [];
  let bytes = 0;
  for (const item of items) {
    page.push(item);
    bytes += bytesOf(item);
    if (bytes < DATABASE_PAGE_BYTES && page.length < DATABASE_PAGE_RECORDS) continue;
    yield page;
    page = [];
    bytes = 0;
  }
  if (page.length > 0) yield page;
}
