// The bytes of a bucket file. All numbers little-endian.
//
//   header, 96 bytes:  magic 8 | format u16 | slot bytes u16 | slots u32 | bucket u32 | name length u8 | name 64 | 0… | crc u32
//   256 slots of 96:   state u8 | kind u8 | version u16 | id u32 | created ms u64 |
//                      live:       master id 8 | wrapped key 60 | 0…  | crc u32
//                      destroyed:  fingerprint 8 | destroyed ms u64 | 0… | crc u32
//
// A slot of zeros was never written. A file is created at its full size, so later writes neither grow nor move it.
import { assert } from '../base/assert.ts';
import { SLOT_DESTROYED } from '../base/key-slot.ts';
import { checksum } from '../crypto/checksum.ts';

export const SLOT_BYTES = 96;
export const SLOTS_PER_BUCKET = 256;
export const HEADER_BYTES = SLOT_BYTES;
export const BUCKET_BYTES = HEADER_BYTES + SLOTS_PER_BUCKET * SLOT_BYTES;
export const WRAPPED_BYTES = 60;
export const STORE_NAME_BYTES_MAX = 64;

const MAGIC = Buffer.from('GRANKEYS', 'latin1');
const FORMAT = 1;
const CHECKSUM_AT = SLOT_BYTES - 4;
const STATE_UNUSED = 0;
const STATE_LIVE = 1;
const STATE_DESTROYED = SLOT_DESTROYED;
/** Version of the wrapped content: 32 random bytes. */
const SLOT_VERSION = 1;

/** The use of a key. The numbers are on disk. */
export const KEY_KINDS = { blob: 1, token: 2, index: 3, user: 4, scope: 5 } as const;
export type KeyKind = keyof typeof KEY_KINDS;
const KIND_NAMES: readonly (KeyKind | undefined)[] = [undefined, 'blob', 'token', 'index', 'user', 'scope'];

export interface LiveSlot {
  readonly state: 'live';
  readonly kind: KeyKind;
  readonly createdMs: number;
  /** 16 hex digits: the id of the master key that wrapped it. */
  readonly masterId: string;
  /** A view into the bucket. */
  readonly wrapped: Uint8Array;
}
export interface DestroyedSlot {
  readonly state: 'destroyed';
  readonly kind: KeyKind;
  readonly createdMs: number;
  /** 16 hex digits: the first 8 bytes of SHA-256 of the key. */
  readonly fingerprint: string;
  readonly destroyedMs: number;
}
export type Slot = LiveSlot | DestroyedSlot | { readonly state: 'unused' } | { readonly state: 'damaged' };

const UNUSED: Slot = { state: 'unused' };
const DAMAGED: Slot = { state: 'damaged' };

export function bucketOf(id: number): number {
  return Math.floor((id - 1) / SLOTS_PER_BUCKET);
}

/** The offset of slot `id` in its bucket's bytes. */
export function slotOffset(id: number): number {
  return HEADER_BYTES + ((id - 1) % SLOTS_PER_BUCKET) * SLOT_BYTES;
}

export function firstIdOf(bucket: number): number {
  return bucket * SLOTS_PER_BUCKET + 1;
}

/** An empty bucket of the store called `name`. */
export function emptyBucket(bucket: number, name: string): Buffer {
  const bytes = Buffer.alloc(BUCKET_BYTES);
  writeHeader(bytes, bucket, name);
  return bytes;
}

export function writeHeader(bytes: Buffer, bucket: number, name: string): void {
  const nameBytes = Buffer.from(name);
  assert(nameBytes.length <= STORE_NAME_BYTES_MAX, "a key store's name fits the header");
  bytes.fill(0, 0, HEADER_BYTES);
  MAGIC.copy(bytes, 0);
  bytes.writeUInt16LE(FORMAT, 8);
  bytes.writeUInt16LE(SLOT_BYTES, 10);
  bytes.writeUInt32LE(SLOTS_PER_BUCKET, 12);
  bytes.writeUInt32LE(bucket, 16);
  bytes.writeUInt8(nameBytes.length, 20);
  nameBytes.copy(bytes, 21);
  bytes.writeUInt32LE(checksum(bytes.subarray(0, CHECKSUM_AT)), CHECKSUM_AT);
}

export type Header =
  | { readonly state: 'ok'; readonly format: number; readonly bucket: number; readonly name: string }
  | { readonly state: 'damaged' };

export function readHeader(bytes: Buffer): Header {
  if (!bytes.subarray(0, 8).equals(MAGIC)) return { state: 'damaged' };
  if (bytes.readUInt32LE(CHECKSUM_AT) !== checksum(bytes.subarray(0, CHECKSUM_AT))) return { state: 'damaged' };
  const name = bytes.toString('utf8', 21, 21 + bytes.readUInt8(20));
  return { state: 'ok', format: bytes.readUInt16LE(8), bucket: bytes.readUInt32LE(16), name };
}

export const BUCKET_FORMAT = FORMAT;

/**
 * The state of the slot of `id` in its bucket's bytes, which is often all that is asked. `damaged`: torn by a crash,
 * rotten, or the slot of another key.
 */
export function readState(bytes: Buffer, id: number): Slot['state'] {
  const at = slotOffset(id);
  if (bytes.readUInt32LE(at + CHECKSUM_AT) !== checksum(bytes.subarray(at, at + CHECKSUM_AT)))
    return bytes.subarray(at, at + SLOT_BYTES).every((byte) => byte === 0) ? 'unused' : 'damaged';
  const isKnown = KIND_NAMES[bytes[at + 1]!] !== undefined && bytes.readUInt16LE(at + 2) === SLOT_VERSION;
  if (!isKnown || bytes.readUInt32LE(at + 4) !== id) return 'damaged';
  const state = bytes[at];
  return state === STATE_LIVE ? 'live' : state === STATE_DESTROYED ? 'destroyed' : 'damaged';
}

/** The slot of `id` in its bucket's bytes. */
export function readSlot(bytes: Buffer, id: number): Slot {
  const state = readState(bytes, id);
  if (state === 'unused') return UNUSED;
  if (state === 'damaged') return DAMAGED;
  const at = slotOffset(id);
  const slot = bytes.subarray(at, at + SLOT_BYTES);
  const kind = KIND_NAMES[slot[1]!]!; // a slot in use has one
  const createdMs = Number(slot.readBigUInt64LE(8));
  if (state === 'live')
    return {
      state,
      kind,
      createdMs,
      masterId: slot.toString('hex', 16, 24),
      wrapped: slot.subarray(24, 24 + WRAPPED_BYTES),
    };
  const destroyedMs = Number(slot.readBigUInt64LE(24));
  return { state, kind, createdMs, fingerprint: slot.toString('hex', 16, 24), destroyedMs };
}

/** The kind of key in a damaged slot, as far as its bytes can be read; otherwise a guess. */
export function kindOfDamaged(bytes: Buffer, id: number): KeyKind {
  return KIND_NAMES[bytes[slotOffset(id) + 1]!] ?? 'blob';
}

export function writeLive(bytes: Buffer, id: number, live: Omit<LiveSlot, 'state'>): void {
  assert(live.wrapped.length === WRAPPED_BYTES, 'a wrapped key has 60 bytes');
  const slot = beginSlot(bytes, id, STATE_LIVE, live.kind, live.createdMs);
  slot.write(live.masterId, 16, 8, 'hex');
  slot.set(live.wrapped, 24);
  endSlot(slot);
}

export function writeDestroyed(bytes: Buffer, id: number, destroyed: Omit<DestroyedSlot, 'state'>): void {
  const slot = beginSlot(bytes, id, STATE_DESTROYED, destroyed.kind, destroyed.createdMs);
  slot.write(destroyed.fingerprint, 16, 8, 'hex');
  slot.writeBigUInt64LE(BigInt(destroyed.destroyedMs), 24);
  endSlot(slot);
}

function beginSlot(bytes: Buffer, id: number, state: number, kind: KeyKind, createdMs: number): Buffer {
  const at = slotOffset(id);
  const slot = bytes.subarray(at, at + SLOT_BYTES);
  slot.fill(STATE_UNUSED);
  slot[0] = state;
  slot[1] = KEY_KINDS[kind];
  slot.writeUInt16LE(SLOT_VERSION, 2);
  slot.writeUInt32LE(id, 4);
  slot.writeBigUInt64LE(BigInt(createdMs), 8);
  return slot;
}

function endSlot(slot: Buffer): void {
  slot.writeUInt32LE(checksum(slot.subarray(0, CHECKSUM_AT)), CHECKSUM_AT);
}
