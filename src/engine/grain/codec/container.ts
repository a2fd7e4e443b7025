// Reads .mg files: head, offsets, grains, manifest, footer. Returns nothing until the whole file has passed all checks.
//
//   0  3   magic 4d 47 01            16    4N  offsets of the grains, from the file's start or the first grain's
//   3  1   flags                     16+4N     the grains, one after another
//   4  4   grain count N                       manifest, if flagged: one map
//   8  1   field map version         end-32    SHA-256 over everything before
//   9  1   codec, 10  6  reserved
import { createHash, timingSafeEqual } from 'node:crypto';
import { CONTAINER_INFLATED_MAX } from '../../base/limits.ts';
import { addressOf } from '../address.ts';
import { refuse } from '../error.ts';
import type { Address, Grain } from '../grain.ts';
import { type Profile, type ProfileOptions, profileOf } from '../rules/profile.ts';
import { type DecodeOptions, decodeAny, type OpaqueGrain } from './blob.ts';
import { endOfEnvelope, openEnvelope, startsEnvelope } from './cose.ts';
import { HEADER_BYTES } from './header.ts';
import { type GrainStatus, readManifest } from './manifest.ts';
import { endOfValue } from './msgpack.ts';
import { endOfFrame, inflateFrame } from './zstd.ts';

export const MAGIC = [0x4d, 0x47, 0x01] as const;
export const FILE_HEAD_BYTES = 16;
export const FOOTER_BYTES = 32;
export const FILE_FLAG = {
  sorted: 0x01,
  deduplicated: 0x02,
  compressed: 0x04,
  fieldMap: 0x08,
  manifest: 0x10,
  reserved: 0xe0,
} as const;
export const FIELD_MAP_VERSION = 1;
const CODEC = { none: 0, zstd: 1 } as const;

export interface ContainerGrain<G = Grain> {
  /** The blob, without the envelope of a signed grain; a view of the file's bytes. */
  readonly blob: Buffer;
  readonly address: Address;
  readonly grain: G;
  /** DID of the signer, if the grain was in an envelope with a valid signature. */
  readonly signer?: string | undefined;
}

export interface Container<G = Grain> {
  readonly grains: readonly ContainerGrain<G>[];
  /** Covers only grains of the file. The author of the file claims it; nothing proves it. */
  readonly manifest: ReadonlyMap<Address, GrainStatus>;
  readonly warnings: readonly string[];
}

export interface ContainerOptions extends ProfileOptions {
  readonly engineFlags?: boolean | undefined;
  /** Check that each grain re-encodes to the same bytes. Default true. */
  readonly verifyReencode?: boolean | undefined;
}

/** True when the bytes start with the magic of a .mg file. */
function startsContainer(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte);
}

/**
 * Reads a .mg file with every check of the format, in its order. Throws GrainError: ERR_TOO_SHORT, ERR_CORRUPT (magic,
 * counts, offsets, guarantees of the flags), ERR_INTEGRITY (footer), ERR_UNSUPPORTED, ERR_TOO_LARGE, ERR_UNKNOWN_TYPE,
 * or the error of the first invalid grain.
 */
export function readContainer(bytes: Uint8Array, options: ContainerOptions = {}): Container {
  const container = readAnyContainer(bytes, options);
  const isKnown = (entry: ContainerGrain<Grain | OpaqueGrain>): entry is ContainerGrain =>
    entry.grain.type !== undefined;
  const { grains } = container;
  if (!grains.every(isKnown)) refuse('ERR_UNKNOWN_TYPE');
  return { ...container, grains };
}

/** `readContainer` that returns grains of reserved and application types as opaque maps. */
export function readAnyContainer(bytes: Uint8Array, options: ContainerOptions = {}): Container<Grain | OpaqueGrain> {
  const profile = profileOf(options);
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = readHead(file);
  const { region, regionEnd } = locateRegion(file, head, profile);
  const offsets = readOffsets(file, head, region.length);
  const ends = endsOf(region, offsets, head, profile);
  const grains = offsets.map((offset, i) => readGrain(region.subarray(offset, ends[i]), options));
  checkPromises(grains, head.flags);
  const warnings: string[] = [];
  if (head.fieldMapVersion !== FIELD_MAP_VERSION) warnings.push('field map version is not known');
  const manifestStart = head.isCompressed ? regionEnd : head.grainsStart + (ends.at(-1) ?? 0);
  const manifest = readFileManifest(file.subarray(manifestStart, head.footerStart), head, warnings);
  const known = new Set(grains.map(({ address }) => address));
  const strangers = [...manifest.keys()].filter((address) => !known.has(address));
  for (const address of strangers) manifest.delete(address);
  if (strangers.length > 0) warnings.push('manifest names grains that are not in the file');
  return { grains, manifest, warnings };
}

interface Head {
  readonly flags: number;
  readonly count: number;
  readonly fieldMapVersion: number;
  readonly isCompressed: boolean;
  readonly grainsStart: number;
  readonly footerStart: number;
}

function readHead(file: Buffer): Head {
  if (file.length < FILE_HEAD_BYTES + FOOTER_BYTES) refuse('ERR_TOO_SHORT');
  if (!startsContainer(file)) refuse('ERR_CORRUPT', 'not a .mg file');
  const footerStart = file.length - FOOTER_BYTES;
  const digest = createHash('sha256').update(file.subarray(0, footerStart)).digest();
  if (!timingSafeEqual(digest, file.subarray(footerStart))) refuse('ERR_INTEGRITY', 'footer does not match');
  const flags = file[3]!;
  const count = file.readUInt32BE(4);
  const codec = file[9]!;
  if ((flags & FILE_FLAG.reserved) !== 0) refuse('ERR_UNSUPPORTED', 'reserved file flags');
  if ((flags & FILE_FLAG.fieldMap) !== 0) refuse('ERR_UNSUPPORTED', 'custom field map');
  const isCompressed = (flags & FILE_FLAG.compressed) !== 0;
  if (isCompressed !== (codec !== CODEC.none)) refuse('ERR_CORRUPT', 'compressed flag and codec disagree');
  if (codec > CODEC.zstd) refuse('ERR_UNSUPPORTED', 'codec is not supported');
  const grainsStart = FILE_HEAD_BYTES + 4 * count;
  if (grainsStart > footerStart) refuse('ERR_CORRUPT', 'more grains than the file can hold');
  return { flags, count, fieldMapVersion: file[8]!, isCompressed, grainsStart, footerStart };
}

/** The region of grains, inflated if compressed, and the file position after it. */
function locateRegion(file: Buffer, head: Head, profile: Profile): { region: Buffer; regionEnd: number } {
  const { grainsStart, footerStart, isCompressed, count } = head;
  if (!isCompressed) return { region: file.subarray(grainsStart, footerStart), regionEnd: footerStart };
  const regionEnd = endOfFrame(file, grainsStart, footerStart);
  if (regionEnd === -1) refuse('ERR_CORRUPT', 'grain region is not a zstd frame');
  const ceiling = Math.min(CONTAINER_INFLATED_MAX, profile.blobBytesMax * count);
  return { region: inflateFrame(file.subarray(grainsStart, regionEnd), ceiling), regionEnd };
}

/** Offsets within the region. In the file they count from the file's start or the region's; the first one shows which. */
function readOffsets(file: Buffer, head: Head, regionBytes: number): number[] {
  const offsets: number[] = [];
  if (head.count === 0) return offsets;
  const first = file.readUInt32BE(FILE_HEAD_BYTES);
  if (first !== 0 && first !== head.grainsStart) refuse('ERR_CORRUPT', 'the first offset does not point at a grain');
  for (let i = 0; i < head.count; i++) {
    const offset = file.readUInt32BE(FILE_HEAD_BYTES + 4 * i) - first;
    if (i > 0 && offset <= offsets[i - 1]!) refuse('ERR_CORRUPT', 'offsets do not increase');
    if (offset >= regionBytes) refuse('ERR_CORRUPT', 'offset outside the grain region');
    offsets.push(offset);
  }
  return offsets;
}

/**
 * End of each grain. If a manifest follows, the last grain's own bytes determine its end, because the file does not
 * store it.
 */
function endsOf(region: Buffer, offsets: readonly number[], head: Head, profile: Profile): number[] {
  const ends = offsets.slice(1);
  const last = offsets.at(-1);
  if (last === undefined) return ends;
  if (head.isCompressed || (head.flags & FILE_FLAG.manifest) === 0) return [...ends, region.length];
  const end = startsEnvelope(region.subarray(last))
    ? endOfEnvelope(region, last, region.length)
    : endOfValue(region, last + HEADER_BYTES, region.length, profile.depthMax);
  if (end === -1) refuse('ERR_CORRUPT', 'the last grain is truncated or malformed');
  return [...ends, end];
}

function readGrain(bytes: Buffer, options: ContainerOptions): ContainerGrain<Grain | OpaqueGrain> {
  const { verifyReencode = true, ...rest } = options;
  const decodeOptions: DecodeOptions = { ...rest, verifyReencode };
  if (!startsEnvelope(bytes)) return { blob: bytes, address: addressOf(bytes), grain: decodeAny(bytes, decodeOptions) };
  const { blob, did } = openEnvelope(bytes);
  return {
    blob,
    address: addressOf(blob),
    grain: decodeAny(blob, { ...decodeOptions, enveloped: true }),
    signer: did,
  };
}

function checkPromises(grains: readonly ContainerGrain<Grain | OpaqueGrain>[], flags: number): void {
  if ((flags & FILE_FLAG.deduplicated) !== 0 && new Set(grains.map(({ address }) => address)).size !== grains.length)
    refuse('ERR_CORRUPT', 'an address occurs twice in a file flagged as deduplicated');
  if ((flags & FILE_FLAG.sorted) === 0) return;
  for (let i = 1; i < grains.length; i++)
    if (createdAt(grains[i]!.grain) < createdAt(grains[i - 1]!.grain))
      refuse('ERR_CORRUPT', 'a file flagged as sorted is not sorted');
}

function createdAt(grain: Grain | OpaqueGrain): number {
  const value = grain.fields[grain.type === undefined ? 'ca' : 'created_at'];
  return typeof value === 'number' ? value : grain.header.createdAtSeconds * 1000;
}

function readFileManifest(bytes: Buffer, head: Head, warnings: string[]): Map<Address, GrainStatus> {
  if ((head.flags & FILE_FLAG.manifest) !== 0) return readManifest(bytes, warnings);
  if (bytes.length > 0) refuse('ERR_CORRUPT', 'bytes between the grains and the footer');
  return new Map();
}

/**
 * Reads what may be imported: a .mg file, or one blob or one signed envelope by itself. Errors as `readContainer`.
 */
export function readImport(bytes: Uint8Array, options: ContainerOptions = {}): Container {
  if (startsContainer(bytes)) return readContainer(bytes, options);
  const entry = readGrain(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), options);
  const { grain } = entry;
  if (grain.type === undefined) refuse('ERR_UNKNOWN_TYPE');
  return { grains: [{ ...entry, grain }], manifest: new Map(), warnings: [] };
}
