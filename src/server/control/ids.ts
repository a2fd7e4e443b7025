// Ids that the deployment gives out: a prefix and 24 base32 characters (120 random bits).
import { randomFillSync } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_BYTES = 15;

// Every request has an id, and drawing random bytes for each costs more than the rest of it: they are drawn many at a
// time, and each is given once.
const pool = Buffer.allocUnsafeSlow(ID_BYTES * 256);
let used = pool.length;

/** `prefix` without its underscore: `key`, `mem`, `req`. */
export function randomId(prefix: string): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let id = `${prefix}_`;
  for (const end = used + ID_BYTES; used < end; used += 5) {
    const high = pool.readUInt16BE(used) * 16 + (pool[used + 2]! >>> 4);
    const low = ((pool[used + 2]! & 15) << 16) | pool.readUInt16BE(used + 3);
    // Four digits of five bits in each half.
    for (let shift = 15; shift >= 0; shift -= 5) id += ALPHABET[(high >>> shift) & 31];
    for (let shift = 15; shift >= 0; shift -= 5) id += ALPHABET[(low >>> shift) & 31];
  }
  return id;
}
