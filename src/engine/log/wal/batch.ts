// The bytes of a write-ahead file. It holds appends of several logs (shards), in the order in which they were written.
// Numbers are little-endian.
//
//   header, 64 bytes
//     0  'GRNRYWAL'
//     8  generation: 8 random bytes, drawn each time the file is written from its start
//    16  u32 number of workers, u32 this worker
//    24  u32 CRC-32 of the bytes before
//   batches, one after the other: what one write and one sync made durable
//     0  'GRWB'
//     4  the generation
//    12  u32 bytes of the directory
//    16  u32 bytes of the frames
//    20  u32 CRC-32 of the bytes before, seeded with the CRC-32 of the directory
//    24  directory
//          u16 count, then for each open log: u16 shard, f64 number of its newest append before this batch
//          u16 count, then for each append:
//            u16 shard, f64 number, u32 first sequence, u32 records, u32 replacements, u32 removals, u32 state entries
//            u32 bytes of each record's frame
//            u32 sequence and u32 bytes of the frame of each replacement
//            u32 sequence of each removal
//            u8 key bytes, key, u32 bytes of the frame of each state entry (2^32 - 1: deleted)
//        frames, in the order of the directory: records, replacements, state entries. Each has its own checksum.
//
// A batch whose write was cut off fails a checksum. No batch follows it, since the next one is written only after the
// sync of the one before. A broken batch with a whole one of the same generation after it is damage; the numbers in the
// later one tell whose appends are missing.
import { crc32 } from 'node:zlib';
import { isWhole } from '../frame.ts';
import { type NumberedAppend, recordCount } from '../numbered-append.ts';

export const HEADER_BYTES = 64;
/** A batch begins with this many bytes that say how long it is. */
export const BATCH_HEAD_BYTES = 24;
export const GENERATION_BYTES = 8;

const FILE_MAGIC = Buffer.from('GRNRYWAL');
const BATCH_MAGIC = Buffer.from('GRWB');

const APPEND_BYTES = 30;
const DELETED = 0xffff_ffff;

/** The worker that a file belongs to: it has the shards i with i mod workers = worker. */
export interface FileOwner {
  readonly workers: number;
  readonly worker: number;
}

export interface ShardAppend {
  readonly shard: number;
  readonly append: NumberedAppend;
}

/** Shard → the number of its newest append. */
export type Numbers = ReadonlyMap<number, number>;

export interface Batch {
  /** Of every log that was open, before this batch. */
  readonly before: Numbers;
  readonly appends: readonly ShardAppend[];
}

export function encodeHeader(generation: Buffer, { workers, worker }: FileOwner): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  FILE_MAGIC.copy(header);
  generation.copy(header, 8);
  header.writeUInt32LE(workers, 16);
  header.writeUInt32LE(worker, 20);
  header.writeUInt32LE(crc32(header.subarray(0, 24)), 24);
  return header;
}

/** The file's generation and owner, or undefined: nothing was written, or the first write was cut off. */
export function decodeHeader(bytes: Buffer): { readonly generation: Buffer; readonly owner: FileOwner } | undefined {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, 8).equals(FILE_MAGIC)) return undefined;
  if (crc32(bytes.subarray(0, 24)) !== bytes.readUInt32LE(24)) return undefined;
  const owner = { workers: bytes.readUInt32LE(16), worker: bytes.readUInt32LE(20) };
  return { generation: bytes.subarray(8, 8 + GENERATION_BYTES), owner };
}

/** The bytes of a batch, in parts. Record frames are not copied. */
export function encodeBatch(generation: Buffer, { before, appends }: Batch): Buffer[] {
  const frames: Buffer[] = [];
  const writer = new DirectoryWriter(directoryBytes(before, appends));
  writer.u16(before.size);
  for (const [shard, number] of before) {
    writer.u16(shard);
    writer.f64(number);
  }
  writer.u16(appends.length);
  for (const { shard, append } of appends) {
    writer.append(shard, append);
    if (append.frames.length > 0) frames.push(append.frames);
    const others = [...append.replacements, ...append.state].flatMap(([, frame]) => frame ?? []);
    if (others.length > 0) frames.push(Buffer.concat(others));
  }
  const head = writer.bytes.subarray(0, BATCH_HEAD_BYTES);
  BATCH_MAGIC.copy(head);
  generation.copy(head, 4);
  const directory = writer.bytes.subarray(BATCH_HEAD_BYTES);
  head.writeUInt32LE(directory.length, 12);
  head.writeUInt32LE(
    frames.reduce((sum, { length }) => sum + length, 0),
    16,
  );
  head.writeUInt32LE(checksumOf(head, directory), 20);
  return [writer.bytes, ...frames];
}

/** The batch at `at` with the position after it, or undefined if there is no whole batch of this generation. */
export function decodeBatch(
  bytes: Buffer,
  at: number,
  generation: Buffer,
): { readonly batch: Batch; readonly end: number } | undefined {
  const head = headAt(bytes, at, generation);
  if (head === undefined) return undefined;
  const batch = new DirectoryReader(bytes.subarray(at + BATCH_HEAD_BYTES, head.framesAt), bytes, head.framesAt).batch();
  return batch.appends.every(({ append }) => isIntact(append)) ? { batch, end: head.end } : undefined;
}

/**
 * All whole batches of the file, in order; those of every generation when its header is not readable. Earlier generations
 * hold only appends that are in their logs.
 */
export function* batchesOf(
  bytes: Buffer,
  generation: Buffer | undefined,
): Generator<{ readonly at: number; readonly batch: Batch; readonly end: number }> {
  const mark = generation === undefined ? BATCH_MAGIC : Buffer.concat([BATCH_MAGIC, generation]);
  let from = HEADER_BYTES;
  for (let at = bytes.indexOf(mark, from); at >= 0; at = bytes.indexOf(mark, from)) {
    const found = decodeBatch(bytes, at, generation ?? bytes.subarray(at + 4, at + 4 + GENERATION_BYTES));
    if (found !== undefined) yield { at, ...found };
    from = found?.end ?? at + 1;
  }
}

function headAt(bytes: Buffer, at: number, generation: Buffer) {
  if (at + BATCH_HEAD_BYTES > bytes.length) return undefined;
  const head = bytes.subarray(at, at + BATCH_HEAD_BYTES);
  if (!head.subarray(0, 4).equals(BATCH_MAGIC) || !head.subarray(4, 12).equals(generation)) return undefined;
  const framesAt = at + BATCH_HEAD_BYTES + head.readUInt32LE(12);
  const end = framesAt + head.readUInt32LE(16);
  if (end > bytes.length) return undefined;
  const isRight = checksumOf(head, bytes.subarray(at + BATCH_HEAD_BYTES, framesAt)) === head.readUInt32LE(20);
  return isRight ? { framesAt, end } : undefined;
}

function checksumOf(head: Buffer, directory: Buffer): number {
  return crc32(head.subarray(0, 20), crc32(directory));
}

function isIntact(append: NumberedAppend): boolean {
  const { frames, offsets, first, replacements, state } = append;
  for (let i = 0; i < recordCount(append); i++)
    if (!isWhole(frames.subarray(offsets[i], offsets[i + 1]), first + i)) return false;
  return (
    replacements.every(([sequence, frame]) => isWhole(frame, sequence)) &&
    state.every(([, frame]) => frame === null || isWhole(frame, 0))
  );
}

/** With the head before it. */
function directoryBytes(before: Numbers, appends: readonly ShardAppend[]): number {
  let bytes = BATCH_HEAD_BYTES + 4 + 10 * before.size;
  for (const { append } of appends) {
    bytes += APPEND_BYTES + 4 * recordCount(append) + 8 * append.replacements.length + 4 * append.removals.length;
    for (const [key] of append.state) bytes += 5 + key.length;
  }
  return bytes;
}

class DirectoryWriter {
  readonly bytes: Buffer;
  #at = BATCH_HEAD_BYTES;

  constructor(length: number) {
    this.bytes = Buffer.allocUnsafe(length);
  }

  u16(value: number): void {
    this.#at = this.bytes.writeUInt16LE(value, this.#at);
  }

  u32(value: number): void {
    this.#at = this.bytes.writeUInt32LE(value, this.#at);
  }

  f64(value: number): void {
    this.#at = this.bytes.writeDoubleLE(value, this.#at);
  }

  append(shard: number, append: NumberedAppend): void {
    const { number, first, offsets, replacements, removals, state } = append;
    this.u16(shard);
    this.f64(number);
    this.u32(first);
    for (const count of [recordCount(append), replacements.length, removals.length, state.length]) this.u32(count);
    for (let i = 1; i < offsets.length; i++) this.u32(offsets[i]! - offsets[i - 1]!);
    for (const [sequence, frame] of replacements) {
      this.u32(sequence);
      this.u32(frame.length);
    }
    for (const sequence of removals) this.u32(sequence);
    for (const [key, frame] of state) {
      this.bytes[this.#at++] = key.length;
      this.#at += this.bytes.write(key, this.#at, 'latin1');
      this.u32(frame === null ? DELETED : frame.length);
    }
  }
}

/** Reads a directory whose checksum is right. */
class DirectoryReader {
  readonly #directory: Buffer;
  readonly #file: Buffer;
  #at = 0;
  #framesAt: number;

  constructor(directory: Buffer, file: Buffer, framesAt: number) {
    this.#directory = directory;
    this.#file = file;
    this.#framesAt = framesAt;
  }

  batch(): Batch {
    const before = new Map<number, number>();
    for (let left = this.#u16(); left > 0; left--) {
      const shard = this.#u16();
      before.set(shard, this.#f64());
    }
    const appends: ShardAppend[] = [];
    for (let left = this.#u16(); left > 0; left--) appends.push(this.#append());
    return { before, appends };
  }

  #append(): ShardAppend {
    const shard = this.#u16();
    const number = this.#f64();
    const first = this.#u32();
    const [records, replaced, removed, states] = [this.#u32(), this.#u32(), this.#u32(), this.#u32()];
    const offsets = new Uint32Array(records + 1);
    for (let i = 0; i < records; i++) offsets[i + 1] = offsets[i]! + this.#u32();
    const start = this.#framesAt;
    const frames = this.#frames(offsets[records]!);
    const replacements = Array.from({ length: replaced }, () => [this.#u32(), this.#frames(this.#u32())] as const);
    const removals = Array.from({ length: removed }, () => this.#u32());
    const state = Array.from({ length: states }, () => [this.#key(), this.#stateFrame()] as const);
    const bytes = this.#framesAt - start;
    return { shard, append: { number, first, frames, offsets, replacements, removals, state, bytes } };
  }

  #frames(length: number): Buffer {
    this.#framesAt += length;
    return this.#file.subarray(this.#framesAt - length, this.#framesAt);
  }

  #stateFrame(): Buffer | null {
    const length = this.#u32();
    return length === DELETED ? null : this.#frames(length);
  }

  #key(): string {
    const length = this.#directory[this.#at++]!;
    this.#at += length;
    return this.#directory.toString('latin1', this.#at - length, this.#at);
  }

  #u16(): number {
    this.#at += 2;
    return this.#directory.readUInt16LE(this.#at - 2);
  }

  #u32(): number {
    this.#at += 4;
    return this.#directory.readUInt32LE(this.#at - 4);
  }

  #f64(): number {
    this.#at += 8;
    return this.#directory.readDoubleLE(this.#at - 8);
  }
}
