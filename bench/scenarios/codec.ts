// The grain codec on one thread: a belief of about 300 bytes, encoded and hashed, decoded, opened, identified.
import { hash } from 'node:crypto';
import { decodeGrain, encodeGrain, openGrain } from '../../src/engine/grain/blob.ts';
import { identityBytes } from '../../src/engine/grain/identity.ts';
import type { ValueMap } from '../../src/engine/grain/value.ts';

const GRAINS = 512;
const WARM_UP_ROUNDS = 3;
const ROUNDS = 11;
/** Many, since the clock of a thread ticks every 4 ms. */
const REPEATS = 64;

function belief(i: number): ValueMap {
  return {
    subject: `customer-${1000 + i}`,
    relation: 'prefers',
    object: `a window seat on long flights, a vegetarian meal, and no calls before ${8 + (i % 3)} in the morning`,
    confidence: 0.9,
    source_type: 'user_explicit',
    created_at: 1768471200000 + i * 977,
    namespace: 'shared',
    user_id: `user-${i % 50}`,
    session_id: `session-2026-01-15-${i % 20}`,
    structural_tags: ['travel', 'preference'],
    author_did: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
    importance: 0.5,
  };
}

/** Median over rounds of this thread's own microseconds a call, after warming up: neighbours on the machine count less. */
function medianMicros(work: (i: number) => unknown): number {
  let kept: unknown;
  const times: number[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    const start = process.threadCpuUsage();
    for (let repeat = 0; repeat < REPEATS; repeat++) for (let i = 0; i < GRAINS; i++) kept = work(i);
    const { user, system } = process.threadCpuUsage(start);
    times.push((user + system) / (GRAINS * REPEATS));
  }
  if (kept === null) throw new Error('work was not done');
  times.splice(0, WARM_UP_ROUNDS);
  times.sort((a, b) => a - b);
  return Math.round(times[times.length >> 1]! * 1000) / 1000;
}

export const scenario = {
  name: 'codec',
  async run(): Promise<Record<string, number>> {
    const inputs = Array.from({ length: GRAINS }, (_, i) => belief(i));
    const blobs = inputs.map((fields) => encodeGrain('belief', fields).blob);
    const copies = inputs.map((fields) => JSON.stringify(fields));
    return {
      blob_bytes: blobs.reduce((sum, { length }) => sum + length, 0) / GRAINS,
      encode_and_hash_us: medianMicros((i) => encodeGrain('belief', inputs[i]!)),
      decode_strict_us: medianMicros((i) => decodeGrain(blobs[i]!)),
      decode_and_reencode_us: medianMicros((i) => decodeGrain(blobs[i]!, { verifyReencode: true })),
      open_us: medianMicros((i) => openGrain(blobs[i]!)),
      identity_and_hash_us: medianMicros((i) => hash('sha256', identityBytes(blobs[i]!)!, 'hex')),
      identity_us: medianMicros((i) => identityBytes(blobs[i]!)),
      hash_alone_us: medianMicros((i) => hash('sha256', blobs[i]!, 'hex')),
      json_parse_us: medianMicros((i) => JSON.parse(copies[i]!)),
    };
  },
};

if (import.meta.main) console.log(JSON.stringify({ scenario: scenario.name, ...(await scenario.run()) }));
