// Evidence on how grains are stored in the log: as envelopes that open under their own keys, or not.

import type { BlobEvidence } from '../../calls/compliance.ts';
import { open, SEAL_BYTES } from '../../crypto/envelope.ts';
import { NONCE_BYTES } from '../../crypto/gcm-batch.ts';
import { addressOf } from '../../grain/address.ts';
import { openGrain } from '../../grain/codec/blob.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import type { GrainRecord } from '../../record/record.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';

/** Checks the grains of `sampled`, and the nonces of `forNonces`. */
export function* blobEvidence(
  store: Store,
  memory: Memory,
  sampled: readonly Ordinal[],
  forNonces: readonly Ordinal[],
): Sliced<BlobEvidence> {
  const found = {
    envelopes: 0,
    plaintext: 0,
    unreadable: 0,
    conforming: 0,
    misaddressed: 0,
    foreignKeys: 0,
    withUser: 0,
  };
  for (const ordinal of sampled) {
    look(store, memory, ordinal, found);
    yield;
  }
  const nonces = yield* compareNonces(store, forNonces);
  return { sampled: sampled.length, ...found, ...nonces };
}

type Found = { -readonly [K in keyof BlobEvidence]?: number } & {
  envelopes: number;
  plaintext: number;
  unreadable: number;
  conforming: number;
  misaddressed: number;
  foreignKeys: number;
  withUser: number;
};

function look(store: Store, memory: Memory, ordinal: Ordinal, found: Found): void {
  const record = grainRecord(store, ordinal);
  if (record === undefined) {
    found.unreadable += 1;
    return;
  }
  if (isGrain(record.sealed)) found.plaintext += 1;
  const blob = opened(memory, record);
  if (blob === undefined) {
    found.unreadable += 1;
    return;
  }
  found.envelopes += 1;
  if (record.sealed.length === blob.length + SEAL_BYTES) found.conforming += 1;
  if (addressOf(blob) !== store.addressOf(record)) found.misaddressed += 1;
  const userId = openGrain(blob).fields['user_id'];
  if (typeof userId !== 'string') return;
  found.withUser += 1;
  const own = store.namedKeys.user(memory, userId);
  if (own === undefined || !own.live || own.key !== record.key) found.foreignKeys += 1;
}

/** The record of a grain, or undefined when it is not a readable grain. */
export function grainRecord(store: Store, ordinal: Ordinal): GrainRecord | undefined {
  try {
    const bytes = store.log.read(ordinal);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    return record?.kind === 'grain' ? record : undefined;
  } catch {
    return undefined;
  }
}

/** The plaintext of an envelope under its own key. */
function opened(memory: Memory, record: GrainRecord): Buffer | undefined {
  try {
    return open(memory.grainKey(record.key, record.scopeKey), record.sealed, record.bound);
  } catch {
    return undefined;
  }
}

/** True when the stored bytes are an unsealed grain. */
export function isGrain(bytes: Uint8Array): boolean {
  try {
    openGrain(Buffer.from(bytes));
    return true;
  } catch {
    return false;
  }
}

export function* compareNonces(
  store: Store,
  ordinals: readonly Ordinal[],
): Sliced<{ readonly nonces: number; readonly repeatedNonces: number }> {
  const met = new Set<string>();
  let nonces = 0;
  for (const ordinal of ordinals) {
    const record = grainRecord(store, ordinal);
    if (record === undefined) continue;
    nonces += 1;
    const nonce = Buffer.from(record.sealed.subarray(0, NONCE_BYTES)).toString('hex');
    met.add(`${record.key}/${record.scopeKey}/${nonce}`);
    yield;
  }
  return { nonces, repeatedNonces: nonces - met.size };
}
