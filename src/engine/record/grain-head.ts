// The head of a grain's record, as older builds wrote it too: what a reader learns without opening the grain.
import { assert } from '../base/assert.ts';
import { grainName, type PlacedName } from './grain-name.ts';
import { type GrainRecord, isGrainRecord, RECORD_KINDS } from './record.ts';

/** Bytes that a grain record adds to its blob: header and seal. */
export const GRAIN_RECORD_OVERHEAD = 14 + 32 + 28;
/** Offset of the 32 bytes that a grain's record is bound to. The sealed bytes follow them. */
export const GRAIN_BOUND_AT = 14;
export const GRAIN_SEALED_AT = 46;
/** The same offset in records of older builds. */
const PLAIN_BOUND_AT = 13;
const PLAIN_SEALED_AT = 45;

/** The part of a grain's record before the sealed bytes. */
export type GrainHead = Omit<GrainRecord, 'kind' | 'sealed'>;

/**
 * A grain's record without its enciphered hash and its `sealedBytes` sealed bytes, which the caller writes at
 * GRAIN_BOUND_AT and GRAIN_SEALED_AT.
 */
export function startGrainRecord(grain: Omit<GrainHead, 'bound'>, sealedBytes: number): Buffer {
  assert(grain.userKey !== undefined, 'a grain is written with its enciphered hash');
  const bytes = Buffer.allocUnsafe(GRAIN_SEALED_AT + sealedBytes);
  bytes[0] = RECORD_KINDS.grain;
  bytes.writeUInt32BE(grain.memory, 1);
  bytes.writeUInt32BE(grain.key, 5);
  bytes.writeUInt32BE(grain.scopeKey, 9);
  bytes[13] = grain.userKey === 0 ? 0 : 1;
  return bytes;
}

/** The grain record in `buffer`, of any build, with views into it. */
export function decodeGrain(buffer: Buffer, memory: number): GrainRecord {
  const isPlain = buffer[0] === RECORD_KINDS.plainGrain;
  const key = buffer.readUInt32BE(5);
  const sealedAt = isPlain ? PLAIN_SEALED_AT : GRAIN_SEALED_AT;
  return {
    kind: 'grain',
    memory,
    key,
    scopeKey: buffer.readUInt32BE(9),
    userKey: isPlain ? undefined : userKeyOf(key, buffer[13]!),
    bound: buffer.subarray(isPlain ? PLAIN_BOUND_AT : GRAIN_BOUND_AT, sealedAt),
    sealed: buffer.subarray(sealedAt),
  };
}

/**
 * The head of unverified bytes, which may be longer than the record; undefined for another kind. The caller owns it.
 */
export function peekedHead(bytes: Buffer): GrainHead | undefined {
  const isPlain = bytes[0] === RECORD_KINDS.plainGrain;
  if (!isGrainRecord(bytes) || bytes.length < GRAIN_SEALED_AT) return undefined;
  const key = bytes.readUInt32BE(5);
  return {
    memory: bytes.readUInt32BE(1),
    key,
    scopeKey: bytes.readUInt32BE(9),
    userKey: isPlain ? undefined : userKeyOf(key, bytes[13]!),
    bound: Buffer.from(bytes.subarray(isPlain ? PLAIN_BOUND_AT : GRAIN_BOUND_AT).subarray(0, 32)),
  };
}

/** The keys in unverified bytes of a record, and its name, which is a view of them. */
export type PeekedName = Pick<GrainHead, 'key' | 'scopeKey'> & PlacedName;

/** Undefined for a record that is no grain's, and for one of an older build, which has no name. */
export function peekedName(bytes: Buffer): PeekedName | undefined {
  if (bytes[0] !== RECORD_KINDS.grain || bytes.length < GRAIN_SEALED_AT) return undefined;
  const key = bytes.readUInt32BE(5);
  const scopeKey = bytes.readUInt32BE(9);
  const keys = { user: userKeyOf(key, bytes[13]!), scope: scopeKey };
  return { key, scopeKey, keys, source: bytes, from: GRAIN_BOUND_AT };
}

function userKeyOf(key: number, of: number): number {
  return of === 1 ? key : 0;
}

/** The name in a grain's record; undefined in a record of an older build. */
export function nameInHead({ userKey, scopeKey, bound }: GrainHead): string | undefined {
  if (userKey === undefined) return undefined;
  return grainName({ keys: { user: userKey, scope: scopeKey }, enciphered: bound });
}
