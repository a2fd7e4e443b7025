// A file that somebody uploads, give me its grains. Every grain of it is decoded and checked before any is stored,
// which takes seconds for the largest files: those go to a thread of their own, small ones do not pay for one.
import { Piscina } from 'piscina';
import { EngineError } from '../../engine/errors.ts';
import { readImport } from '../../engine/grain/container.ts';
import { GrainError, toEngineError } from '../../engine/grain/error.ts';
import type { ManifestEntry } from '../../shards/protocol.ts';
import { threadEntry } from '../thread-entry.ts';

/** The grains of a file, ready for a shard. */
export interface ImportedFile {
  readonly blobs: readonly Uint8Array[];
  readonly hashes: readonly string[];
  /** What the file claims of grains that are in it. */
  readonly manifest: readonly ManifestEntry[];
  readonly warnings: readonly string[];
}

/** Files up to this size are read where they arrive: some milliseconds of this thread. */
const INLINE_BYTES_MAX = 128 * 1024;

/** Reads here and now. Throws EngineError FMT-E001 or FMT-E003. */
export function readImportedFile(bytes: Uint8Array): ImportedFile {
  try {
    const { grains, manifest, warnings } = readImport(bytes);
    return {
      blobs: grains.map(({ blob }) => blob),
      hashes: grains.map(({ address }) => address),
      manifest: [...manifest].map(([hash, standing]) => ({
        hash,
        ...(standing.supersededBy === undefined ? {} : { supersededBy: standing.supersededBy }),
        ...(standing.systemValidTo === undefined ? {} : { systemValidToMs: standing.systemValidTo }),
        ...(standing.verificationStatus === undefined ? {} : { verificationStatus: standing.verificationStatus }),
      })),
      warnings,
    };
  } catch (error) {
    if (error instanceof GrainError) throw toEngineError(error, 'import');
    throw error;
  }
}

export class ImportReader {
  #thread: Piscina | undefined;

  async read(bytes: Uint8Array): Promise<ImportedFile> {
    if (bytes.length <= INLINE_BYTES_MAX) return readImportedFile(bytes);
    this.#thread ??= new Piscina({
      filename: threadEntry('read-import-thread', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      maxQueue: 16,
      idleTimeout: 10_000,
    });
    if (this.#thread.queueSize >= 16) throw new EngineError('LIM-E001', 'too many imports wait');
    const outcome: ImportOutcome = await this.#thread.run(bytes);
    if ('error' in outcome) throw EngineError.fromWire(outcome.error);
    const joined = Buffer.from(outcome.joined.buffer, outcome.joined.byteOffset, outcome.joined.byteLength);
    const blobs: Buffer[] = [];
    let offset = 0;
    for (const length of outcome.lengths) {
      blobs.push(joined.subarray(offset, offset + length));
      offset += length;
    }
    return { blobs, hashes: outcome.hashes, manifest: outcome.manifest, warnings: outcome.warnings };
  }

  async close(): Promise<void> {
    await this.#thread?.destroy();
  }
}

/** What the thread answers: blobs end to end, so that they cross as one buffer. */
export type ImportOutcome =
  | (Omit<ImportedFile, 'blobs'> & { readonly joined: Uint8Array; readonly lengths: readonly number[] })
  | { readonly error: ReturnType<EngineError['toWire']> };
