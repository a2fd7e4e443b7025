// Caches vectors on disk by the digests of their texts: embedding a data set takes minutes, too long for every run. A
// changed text, or another split into windows, has a new digest and is encoded.
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Embedder } from '../../src/embed/embedder.ts';

const DIGEST_BYTES = 32;

/** BENCH_CACHE, or a folder below the system's temporary one. */
export function cacheFolder(): string {
  return process.env['BENCH_CACHE'] ?? join(tmpdir(), 'granary-bench-cache');
}

export class KeptVectors {
  readonly #path: string;
  readonly #vectors = new Map<string, Float32Array>();

  /** Stored vectors of the embedder with that name. A truncated record is dropped. */
  constructor(folder: string, name: string, dimensions: number) {
    this.#path = join(folder, `${name.replaceAll(/[^\w.-]/g, '-')}.vectors`);
    if (!existsSync(this.#path)) return;
    const bytes = readFileSync(this.#path);
    const record = DIGEST_BYTES + dimensions * Float32Array.BYTES_PER_ELEMENT;
    const whole = Math.floor(bytes.length / record);
    if (whole * record < bytes.length) truncateSync(this.#path, whole * record);
    for (let at = 0; at < whole * record; at += record) {
      const vector = new Uint8Array(bytes.subarray(at + DIGEST_BYTES, at + record));
      this.#vectors.set(bytes.toString('latin1', at, at + DIGEST_BYTES), new Float32Array(vector.buffer));
    }
  }

  get size(): number {
    return this.#vectors.size;
  }

  of(text: string): Float32Array | undefined {
    return this.#vectors.get(digest(text));
  }

  keep(texts: readonly string[], vectors: readonly (Float32Array | undefined)[]): void {
    const records: Uint8Array[] = [];
    for (const [i, text] of texts.entries()) {
      const vector = vectors[i];
      const key = digest(text);
      if (vector === undefined || this.#vectors.has(key)) continue;
      this.#vectors.set(key, vector);
      records.push(Buffer.from(key, 'latin1'), new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
    }
    if (records.length === 0) return;
    mkdirSync(dirname(this.#path), { recursive: true });
    // One write: several processes may append.
    appendFileSync(this.#path, Buffer.concat(records));
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('binary');
}

/** Wraps `embedder`: backlog texts are encoded once and then read from the folder. Queries are always encoded. */
export function keeping(embedder: Embedder, folder: string): Embedder {
  const kept = new KeptVectors(folder, embedder.name, embedder.dimensions);
  return {
    name: embedder.name,
    dimensions: embedder.dimensions,
    async embed(texts, options) {
      if (options?.priority === 'query') return embedder.embed(texts, options);
      const missing = texts.filter((text) => kept.of(text) === undefined);
      if (missing.length > 0) kept.keep(missing, await embedder.embed(missing, options));
      return texts.map((text) => kept.of(text)?.slice());
    },
    close: () => embedder.close(),
  };
}
