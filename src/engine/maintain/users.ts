import { hash } from 'node:crypto';
import { open, sealKey } from '../crypto/envelope.ts';
import { decodeRecord } from '../record/record.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';

/** Of the SHA-256 of a user's id: enough to tell users apart, within this process. */
const HASH_BYTES = 6;

/** The hashes of the users of a memory that have a live key, one behind the other. Yields after each user. */
export function* userHashes(store: Store, memory: Memory): Generator<void, Buffer, void> {
  const hashes: Buffer[] = [];
  const seen = new Set<number>();
  for (const sequence of store.allKeyed(memory.number, 'userKey')) {
    yield;
    const bytes = store.log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    if (record?.kind !== 'key' || record.action !== 'made' || seen.has(record.key)) continue;
    if (store.keys.state(record.key) !== 'live') continue;
    seen.add(record.key);
    const key = store.keys.get(record.key);
    const name = open(sealKey(key), record.sealedName, Buffer.from(`key-name:${record.key}`));
    key.fill(0);
    hashes.push(hash('sha256', name, 'buffer').subarray(0, HASH_BYTES));
  }
  return Buffer.concat(hashes);
}
