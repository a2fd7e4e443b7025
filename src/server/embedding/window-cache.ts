// Vectors of windows that were embedded a short time ago. Quoted texts and signatures repeat, and a repeated window need
// not be embedded again. Nothing of it is stored: a window is known by a keyed digest, whose key is drawn for the memory
// in this process. A removal in the memory, or a new key of it, drops the memory's vectors and that key; without use
// everything is dropped.
import { createHmac, randomBytes } from 'node:crypto';
import type { Embedder, EmbedOptions } from '../../embed/embedder.ts';
import { WINDOW_CACHE_BYTES_MAX, WINDOW_CACHE_IDLE_MS } from '../../engine/base/limits.ts';
import { broken, isUnit } from './embed-grains.ts';

export interface WindowCacheOptions {
  /** Bytes of all vectors. */
  readonly bytesMax?: number | undefined;
  /** Calls `run` once after so many milliseconds; the result cancels it. */
  readonly after?: ((ms: number, run: () => void) => () => void) | undefined;
}

interface Entry {
  readonly memory: number;
  /** `null` for a window without a vector. */
  readonly vector: Float32Array | null;
}

type Vectors = readonly (Float32Array | undefined)[];

const KEY_BYTES = 32;
/** Of a digest and of an entry without its vector, about. */
const ENTRY_BYTES = 256;

export class WindowCache {
  readonly #bytesMax: number;
  readonly #after: (ms: number, run: () => void) => () => void;
  /** By digest, least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** By memory. */
  readonly #keys = new Map<number, Buffer>();
  #bytes = 0;
  #repeats = 0;
  #cancelIdle: () => void = () => undefined;

  constructor({ bytesMax = WINDOW_CACHE_BYTES_MAX, after = afterByTimer }: WindowCacheOptions = {}) {
    this.#bytesMax = bytesMax;
    this.#after = after;
  }

  /** Windows that were not embedded again. */
  get repeats(): number {
    return this.#repeats;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `embedder` for the texts of one memory: it embeds only what is not known. Closing it closes nothing. */
  over(memory: number, embedder: Embedder): Embedder {
    return {
      name: embedder.name,
      dimensions: embedder.dimensions,
      embed: (texts, options) => this.#embed(memory, embedder, texts, options),
      close: () => Promise.resolve(),
    };
  }

  /** Something of the memory was removed, or its keys changed: nothing that was embedded before is kept. */
  drop(memory: number): void {
    // Windows that are being embedded are kept under the old key, which nobody has any more.
    this.#keys.delete(memory);
    for (const [digest, entry] of this.#entries) if (entry.memory === memory) this.#remove(digest, entry);
  }

  close(): void {
    this.#cancelIdle();
    this.#entries.clear();
    this.#keys.clear();
    this.#bytes = 0;
  }

  async #embed(memory: number, embedder: Embedder, texts: readonly string[], options?: EmbedOptions): Promise<Vectors> {
    this.#rest();
    const key = this.#keyOf(memory);
    const digests = texts.map((text) => digestOf(key, embedder.name, text));
    /** Windows that are not known, by digest: a window may repeat in one call. */
    const missing = new Map<string, string>();
    const vectors = new Map<string, Float32Array | null>();
    for (const [i, digest] of digests.entries()) {
      const entry = this.#entries.get(digest);
      if (entry !== undefined) {
        this.#entries.delete(digest);
        this.#entries.set(digest, entry);
        vectors.set(digest, entry.vector);
      } else missing.set(digest, texts[i]!);
    }
    const made = missing.size === 0 ? [] : await embedder.embed([...missing.values()], options);
    if (made.length !== missing.size) throw broken(`${made.length} vectors for ${missing.size} texts`);
    this.#repeats += texts.length - missing.size;
    const isKept = this.#keys.get(memory) === key;
    for (const [i, digest] of [...missing.keys()].entries()) {
      const vector = made[i] ?? null;
      vectors.set(digest, vector);
      // One that cannot be stored is embedded again.
      if (isKept && (vector === null || isUnit(vector, embedder)))
        this.#keep(digest, { memory, vector: vector?.slice() ?? null });
    }
    return digests.map((digest) => vectors.get(digest)?.slice());
  }

  #keyOf(memory: number): Buffer {
    let key = this.#keys.get(memory);
    if (key === undefined) {
      key = randomBytes(KEY_BYTES);
      this.#keys.set(memory, key);
    }
    return key;
  }

  #keep(digest: string, entry: Entry): void {
    const known = this.#entries.get(digest);
    if (known !== undefined) this.#remove(digest, known);
    this.#entries.set(digest, entry);
    this.#bytes += bytesOf(entry);
    for (const [oldest, one] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#remove(oldest, one);
    }
  }

  #remove(digest: string, entry: Entry): void {
    this.#entries.delete(digest);
    this.#bytes -= bytesOf(entry);
  }

  #rest(): void {
    this.#cancelIdle();
    this.#cancelIdle = this.#after(WINDOW_CACHE_IDLE_MS, () => this.close());
  }
}

function digestOf(key: Buffer, embedder: string, text: string): string {
  return createHmac('sha256', key).update(embedder).update('\0').update(text).digest('base64');
}

function bytesOf({ vector }: Entry): number {
  return ENTRY_BYTES + (vector?.byteLength ?? 0);
}

function afterByTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
