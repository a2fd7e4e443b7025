// The grain codec on one thread: a belief of about 300 bytes, encoded and hashed, decoded, opened, identified. Then its
// blob sealed alone and with others under one key, and opened, by the kernel and by the platform.
import { createSecretKey, hash } from 'node:crypto';
import { open, SEAL_BYTES, sealAll, sealInto } from '../../src/engine/crypto/envelope.ts';
import { BODY_BYTES_MAX } from '../../src/engine/crypto/gcm-batch.ts';
import { decodeGrain, encodeGrain, openGrain } from '../../src/engine/grain/codec/blob.ts';
import { identityBytes } from '../../src/engine/grain/codec/identity.ts';
import type { ValueMap } from '../../src/engine/grain/value.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { median, rounded } from '../lib/statistics.ts';

const GRAINS = 512;
const WARM_UP_ROUNDS = 3;
const ROUNDS = 11;

export const scenario: Scenario = {
  name: 'codec',
  about: 'a grain encoded, hashed, decoded and opened on one thread',
  aims: [
    { metric: 'encode_and_hash_us', atMost: 3 },
    { metric: 'decode_strict_us', atMost: 4 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  // Many, because a thread's CPU clock ticks every 4 ms.
  const repeats = sized(size, { full: 64, quick: 32, smoke: 1 });
  const us = (work: (i: number) => unknown): number => medianMicros(work, repeats);
  const inputs = Array.from({ length: GRAINS }, (_, i) => belief(i));
  const blobs = inputs.map((fields) => encodeGrain('belief', fields).blob);
  const copies = inputs.map((fields) => JSON.stringify(fields));
  return {
    parameters: { grains: GRAINS, rounds: ROUNDS, repeats },
    metrics: rounded({
      blob_bytes: blobs.reduce((sum, { length }) => sum + length, 0) / GRAINS,
      encode_and_hash_us: us((i) => encodeGrain('belief', inputs[i]!)),
      decode_strict_us: us((i) => decodeGrain(blobs[i]!)),
      decode_and_reencode_us: us((i) => decodeGrain(blobs[i]!, { verifyReencode: true })),
      open_us: us((i) => openGrain(blobs[i]!)),
      identity_and_hash_us: us((i) => hash('sha256', identityBytes(blobs[i]!)!, 'hex')),
      identity_us: us((i) => identityBytes(blobs[i]!)),
      hash_alone_us: us((i) => hash('sha256', blobs[i]!, 'hex')),
      json_parse_us: us((i) => JSON.parse(copies[i]!)),
      json_stringify_us: us((i) => JSON.stringify(inputs[i]!)),
      ...sealing(blobs, us),
    }),
  };
}

/** Blobs of a key that are sealed together. */
const TOGETHER = [1, 5, 50] as const;

function sealing(blobs: readonly Buffer[], us: (work: (i: number) => unknown) => number): Record<string, number> {
  const key = createSecretKey(Buffer.alloc(32, 7));
  const bound = Buffer.alloc(32, 9);
  const at = bound.length;
  const into = blobs.map((body) => Buffer.concat([bound, Buffer.alloc(SEAL_BYTES + body.length)]));
  const sealTogether = (from: number, count: number): void =>
    sealAll(key, {
      into: into.slice(from, from + count),
      bodies: blobs.slice(from, from + count),
      additionalAt: 0,
      at,
    });
  sealTogether(0, blobs.length);
  const sealed = into.map((bytes) => Buffer.from(bytes.subarray(at)));
  const large = Buffer.alloc(BODY_BYTES_MAX, 1);
  const place = Buffer.concat([bound, Buffer.alloc(SEAL_BYTES + large.length)]);
  const largest = { into: Array(5).fill(place), bodies: Array(5).fill(large), additionalAt: 0, at };
  return {
    ...Object.fromEntries(
      TOGETHER.map((count) => [
        `seal_${count}_together_us`,
        us((i) => (i % count === 0 ? sealTogether(i, count) : undefined)),
      ]),
    ),
    seal_by_platform_us: us((i) => sealInto(into[i]!, at, key, blobs[i]!, bound)),
    open_sealed_us: us((i) => open(key, sealed[i]!, bound)),
    seal_largest_5_together_us: us((i) => (i % 5 === 0 ? sealAll(key, largest) : undefined)),
    seal_largest_by_platform_us: us(() => sealInto(place, at, key, large, bound)),
  };
}

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

/**
 * Median over rounds of this thread's CPU microseconds per call, after warming up: other load on the machine matters
 * less.
 */
function medianMicros(work: (i: number) => unknown, repeats: number): number {
  let kept: unknown;
  const times: number[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    const start = process.threadCpuUsage();
    for (let repeat = 0; repeat < repeats; repeat++) for (let i = 0; i < GRAINS; i++) kept = work(i);
    const { user, system } = process.threadCpuUsage(start);
    times.push((user + system) / (GRAINS * repeats));
  }
  if (kept === null) throw new Error('work was not done');
  return median(times.slice(WARM_UP_ROUNDS));
}
