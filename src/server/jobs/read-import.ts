// Reads an uploaded file into grains. Every grain is decoded and checked before any is stored, which takes seconds for
// the largest files: a separate thread reads those, while small ones avoid its cost.
import { deserialize, serialize } from 'node:v8';
import { Piscina } from 'piscina';
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { IMPORT_PROBLEMS_LISTED_MAX, TRANSFER_BYTES, TRANSFER_GRAINS_MAX } from '../../engine/base/limits.ts';
import { readImport } from '../../engine/grain/codec/container.ts';
import { GrainError, toEngineError } from '../../engine/grain/error.ts';
import type { ManifestEntry } from '../../shards/protocol.ts';
import { handedOver } from '../long-bytes.ts';
import { threadEntry } from '../thread-entry.ts';

/** The grains of a file, ready for a shard. */
export interface ImportedFile {
  /** In file order; one call takes one chunk. */
  readonly chunks: readonly ImportedChunk[];
  readonly warnings: readonly string[];
}

/** A range of a file. It is kept in few pieces until it is decoded: a file may have a million grains. */
export interface ImportedChunk {
  /** Index of its first grain in the file. */
  readonly from: number;
  readonly lengths: Uint32Array;
  /** Its blobs, concatenated. */
  readonly joined: Uint8Array;
  /** Packed manifest entries for its grains, and for earlier ones that its grains replace. */
  readonly entries: Uint8Array;
}

export function blobsOf({ joined, lengths }: ImportedChunk): Uint8Array[] {
  let offset = 0;
  return Array.from(lengths, (length) => {
    offset += length;
    return joined.subarray(offset - length, offset);
  });
}

export function entriesOf({ entries }: ImportedChunk): readonly ManifestEntry[] {
  return entries.length === 0 ? [] : (deserialize(entries) as ManifestEntry[]); // packed by `chunkOf`
}

/** Files up to this size are read on the receiving thread, in a few milliseconds. */
const INLINE_BYTES_MAX = 128 * 1024;

/** Reads on this thread. Throws EngineError FMT-E001 or FMT-E003. */
export function readImportedFile(bytes: Uint8Array): ImportedFile {
  try {
    const { grains, manifest, warnings } = readImport(bytes);
    const entries = [...manifest].map(
      ([hash, status]): ManifestEntry =>
        defined({
          hash,
          supersededBy: status.supersededBy,
          systemValidToMs: status.systemValidTo,
          verificationStatus: status.verificationStatus,
        }),
    );
    return { chunks: [...chunksOf(grains, entries)], warnings: firstOf(warnings) };
  } catch (error) {
    if (error instanceof GrainError) throw toEngineError(error, 'import');
    throw error;
  }
}

export class ImportReader {
  #thread: Piscina | undefined;

  /** Throws like `readImportedFile`; LIM-E001 when too many wait. The caller may lose a large file's bytes to the thread. */
  async read(bytes: Uint8Array): Promise<ImportedFile> {
    if (bytes.length <= INLINE_BYTES_MAX) return readImportedFile(bytes);
    this.#thread ??= new Piscina({
      filename: threadEntry('read-import-thread', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      maxQueue: 16,
      idleTimeout: 10_000,
    });
    if (this.#thread.queueSize >= 16)
      throw new EngineError('LIM-E001', 'too many imports are waiting: try again later');
    const given = await handedOver(bytes);
    const outcome: ImportOutcome = await this.#thread.run(given, { transferList: [given.buffer] });
    if ('error' in outcome) throw EngineError.fromWire(outcome.error);
    return outcome.file;
  }

  async close(): Promise<void> {
    await this.#thread?.destroy();
  }
}

/** The thread's answer. */
export type ImportOutcome = { readonly file: ImportedFile } | { readonly error: ReturnType<EngineError['toWire']> };

interface Read {
  readonly blob: Uint8Array;
  readonly address: string;
}

function* chunksOf(grains: readonly Read[], manifest: readonly ManifestEntry[]): Generator<ImportedChunk> {
  const placeOf = new Map(grains.map(({ address }, at) => [address, at]));
  const lastPlace = ({ hash, supersededBy = hash }: ManifestEntry): number =>
    Math.max(placeOf.get(hash) ?? 0, placeOf.get(supersededBy) ?? 0);
  const waiting = [...manifest].sort((one, other) => lastPlace(one) - lastPlace(other));
  let next = 0;
  for (const { from, to } of stretchesOf(grains)) {
    const first = next;
    while (next < waiting.length && lastPlace(waiting[next]!) < to) next += 1;
    yield chunkOf(from, grains.slice(from, to), waiting.slice(first, next));
  }
}

function chunkOf(from: number, grains: readonly Read[], entries: readonly ManifestEntry[]): ImportedChunk {
  const blobs = grains.map(({ blob }) => blob);
  return {
    from,
    lengths: Uint32Array.from(blobs, ({ length }) => length),
    joined: Buffer.concat(blobs),
    entries: entries.length === 0 ? new Uint8Array(0) : serialize(entries),
  };
}

/** Ranges of the file, one per call. */
function* stretchesOf(grains: readonly Read[]): Generator<{ readonly from: number; readonly to: number }> {
  let from = 0;
  let bytes = 0;
  for (const [at, { blob }] of grains.entries()) {
    if (at > from && (at - from >= TRANSFER_GRAINS_MAX || bytes + blob.length > TRANSFER_BYTES)) {
      yield { from, to: at };
      from = at;
      bytes = 0;
    }
    bytes += blob.length;
  }
  if (from < grains.length) yield { from, to: grains.length };
}

/** As many warnings as an answer may have. */
function firstOf(warnings: readonly string[]): string[] {
  const more = warnings.length - IMPORT_PROBLEMS_LISTED_MAX;
  return more <= 0
    ? [...warnings]
    : [...warnings.slice(0, IMPORT_PROBLEMS_LISTED_MAX), `${more} more warnings for the file`];
}
