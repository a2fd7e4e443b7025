// Splits a .mg file into uploads that the server accepts. Small files go unchanged; larger ones become several files,
// read from disk piece by piece.
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { BLOB_BYTES_CEILING, GRAIN_DEPTH_MAX, UPLOAD_BYTES_MAX } from '../../engine/base/limits.ts';
import { addressOf } from '../../engine/grain/address.ts';
import { FILE_FLAG, FILE_HEAD_BYTES, FOOTER_BYTES, MAGIC } from '../../engine/grain/codec/container.ts';
import { writeContainer } from '../../engine/grain/codec/container-writer.ts';
import { endOfEnvelope, openEnvelope, startsEnvelope } from '../../engine/grain/codec/cose.ts';
import { HEADER_BYTES } from '../../engine/grain/codec/header.ts';
import { type GrainStatus, readManifest } from '../../engine/grain/codec/manifest.ts';
import { endOfValue } from '../../engine/grain/codec/msgpack.ts';
import type { Address } from '../../engine/grain/grain.ts';
import { Failure } from '../failure.ts';

/** Files up to this size are one upload, because the server checks a whole file before it stores any of it. */
const WHOLE_BYTES_MAX = UPLOAD_BYTES_MAX - 65_536;
const PART_BYTES = 8 * 1_048_576;
const PART_GRAINS = 20_000;

interface PartSizes {
  readonly wholeBytesMax: number;
  readonly partBytes: number;
}
const SIZES: PartSizes = { wholeBytesMax: WHOLE_BYTES_MAX, partBytes: PART_BYTES };

export interface MgPart {
  readonly bytes: Buffer;
  /** Position of the part's first grain in the whole file. */
  readonly from: number;
  /** Number of grains in the part; undefined for a file sent without reading it. */
  readonly grains: number | undefined;
  /** Share of the file sent once this part is, 0 to 1. */
  readonly share: number;
  /** True for grains of an earlier part, repeated with the manifest's entries about later grains. */
  readonly isRepeat?: true | undefined;
}

/** True when the bytes begin like a .mg file. */
export function startsMgFile(head: Uint8Array): boolean {
  return MAGIC.every((byte, at) => head[at] === byte);
}

/** Yields the uploads for the file at `path`, in order. Throws Failure FMT-E001 or FMT-E003 for a damaged file. */
export async function* mgParts(path: string, sizes: PartSizes = SIZES): AsyncGenerator<MgPart> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size <= sizes.wholeBytesMax) {
      yield { bytes: await file.readFile(), from: 0, grains: undefined, share: 1 };
      return;
    }
    yield* partsOf(file, size, sizes.partBytes);
  } finally {
    await file.close();
  }
}

async function* partsOf(file: FileHandle, size: number, partBytes: number): AsyncGenerator<MgPart> {
  const head = await read(file, 0, FILE_HEAD_BYTES);
  if (!startsMgFile(head)) throw new Failure('FMT-E001', 'not a .mg file, and too large for any other format');
  const flags = head[3]!;
  if ((flags & FILE_FLAG.compressed) !== 0)
    throw new Failure(
      'FMT-E001',
      `a compressed .mg file over ${WHOLE_BYTES_MAX} bytes cannot be split: decompress it first`,
    );
  await checkFooter(file, size);
  const count = head.readUInt32BE(4);
  const grainsStart = FILE_HEAD_BYTES + 4 * count;
  const end = size - FOOTER_BYTES;
  if (grainsStart > end) throw new Failure('FMT-E001', 'more grains than the file can hold');
  const starts = startsOf(await read(file, FILE_HEAD_BYTES, 4 * count), grainsStart, end);
  const hasManifest = (flags & FILE_FLAG.manifest) !== 0;
  const grainsEnd = hasManifest && count > 0 ? await endOfLast(file, starts[count - 1]!, end) : end;
  const manifest = hasManifest ? readManifest(await read(file, grainsEnd, end - grainsEnd), []) : new Map();
  const startOf = (at: number): number => (at < count ? starts[at]! : grainsEnd);
  const readGrain = (at: number): Promise<Buffer> => read(file, starts[at]!, startOf(at + 1) - starts[at]!);
  const links = new Links(manifest);
  for (let from = 0; from < count; ) {
    let to = from + 1;
    while (to < count && to - from < PART_GRAINS && startOf(to + 1) - starts[from]! <= partBytes) to += 1;
    const region = await read(file, starts[from]!, startOf(to) - starts[from]!);
    const grains: Buffer[] = [];
    for (let at = from; at < to; at += 1)
      grains.push(region.subarray(starts[at]! - starts[from]!, startOf(at + 1) - starts[from]!));
    const statuses = links.of(grains, from);
    const bytes = writeContainer(grains, { sorted: false, deduplicated: false, manifest: statuses });
    yield { bytes, from, grains: grains.length, share: to / count };
    from = to;
  }
  for (let first = 0; first < links.late.length; ) {
    const grains: Buffer[] = [];
    const statuses = new Map<Address, GrainStatus>();
    for (let size = 0; first < links.late.length && size < partBytes && grains.length < PART_GRAINS; first += 1) {
      const { at, address, supersededBy } = links.late[first]!;
      const grain = await readGrain(at);
      grains.push(grain);
      statuses.set(address, { supersededBy });
      size += grain.length;
    }
    const bytes = writeContainer(grains, { sorted: false, deduplicated: false, manifest: statuses });
    yield { bytes, from: count, grains: grains.length, share: 1, isRepeat: true };
  }
}

/** The manifest, divided among the parts. A grain is linked to its successor once both have been sent. */
class Links {
  /** Grains whose successor comes in a later part or not at all, by position in the file. */
  readonly late: { readonly at: number; readonly address: Address; readonly supersededBy: Address }[] = [];
  readonly #manifest: ReadonlyMap<Address, GrainStatus>;
  readonly #successors = new Set<Address>();
  /** Addresses of those successors that were sent. */
  readonly #sent = new Set<Address>();

  constructor(manifest: ReadonlyMap<Address, GrainStatus>) {
    this.#manifest = manifest;
    for (const { supersededBy } of manifest.values())
      if (supersededBy !== undefined) this.#successors.add(supersededBy);
  }

  /** Manifest entries for these grains; the first grain is at position `from`. */
  of(grains: readonly Buffer[], from: number): Map<Address, GrainStatus> {
    const own = new Map<Address, GrainStatus>();
    if (this.#manifest.size === 0) return own;
    const addresses = grains.map((grain) => addressOf(startsEnvelope(grain) ? openEnvelope(grain).blob : grain));
    for (const address of addresses) if (this.#successors.has(address)) this.#sent.add(address);
    for (const [i, address] of addresses.entries()) {
      const status = this.#manifest.get(address);
      if (status === undefined) continue;
      const { supersededBy, ...rest } = status;
      if (supersededBy === undefined || this.#sent.has(supersededBy)) own.set(address, status);
      else {
        own.set(address, rest);
        this.late.push({ at: from + i, address, supersededBy });
      }
    }
    return own;
  }
}

function startsOf(index: Buffer, grainsStart: number, end: number): Uint32Array {
  const starts = new Uint32Array(index.length / 4);
  if (starts.length === 0) return starts;
  const first = index.readUInt32BE(0);
  if (first !== 0 && first !== grainsStart) throw new Failure('FMT-E001', 'first offset points at no grain');
  for (let at = 0; at < starts.length; at += 1) {
    const start = index.readUInt32BE(4 * at) - first + grainsStart;
    if (start >= end || (at > 0 && start <= starts[at - 1]!)) throw new Failure('FMT-E001', 'offsets do not increase');
    starts[at] = start;
  }
  return starts;
}

/** When a manifest follows, no offset marks the end of the last grain: decode its length from its bytes. */
async function endOfLast(file: FileHandle, start: number, end: number): Promise<number> {
  const bytes = await read(file, start, Math.min(end - start, BLOB_BYTES_CEILING));
  const length = startsEnvelope(bytes)
    ? endOfEnvelope(bytes, 0, bytes.length)
    : endOfValue(bytes, HEADER_BYTES, bytes.length, GRAIN_DEPTH_MAX);
  if (length === -1) throw new Failure('FMT-E001', 'the last grain has no end');
  return start + length;
}

/** Checks the whole file against its footer before any of it is sent. */
async function checkFooter(file: FileHandle, size: number): Promise<void> {
  const hash = createHash('sha256');
  for (let at = 0; at < size - FOOTER_BYTES; at += PART_BYTES)
    hash.update(await read(file, at, Math.min(PART_BYTES, size - FOOTER_BYTES - at)));
  if (!hash.digest().equals(await read(file, size - FOOTER_BYTES, FOOTER_BYTES)))
    throw new Failure('FMT-E003', 'footer does not match: the file is damaged');
}

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) throw new Failure('FMT-E001', 'the file ends early: it is truncated');
    filled += bytesRead;
  }
  return bytes;
}
