// Caches vectors of queries: agents repeat questions, and a query waits for its vector.
import { createHash } from 'node:crypto';
import { assert } from '../engine/base/assert.ts';
import { QUERY_VECTORS_MAX } from '../engine/base/limits.ts';
import type { Embedder } from './embedder.ts';

export interface CachedEmbedder extends Embedder {
  /** Drops all vectors. Those of queries that are being embedded are not kept either. */
  forgetQueries(): void;
}

/** Least recently used first. `null` for a text without a vector. */
type Known = Map<string, Float32Array | null>;

/**
 * Wraps `embedder`: calls with priority `query` first look in the cache of the last `entries` queries; backlog bypasses
 * it. Every caller gets copies. Queries are keyed by digest, so their text is not kept.
 */
export function cachedQueries(embedder: Embedder, entries = QUERY_VECTORS_MAX): CachedEmbedder {
  assert(entries >= 1, 'a cache has room');
  let newest: Known = new Map();
  const remember = (known: Known, key: string, vector: Float32Array | null): void => {
    known.delete(key);
    if (known.size >= entries)
      for (const oldest of known.keys()) {
        known.delete(oldest);
        break;
      }
    known.set(key, vector);
  };
  return {
    name: embedder.name,
    dimensions: embedder.dimensions,
    async embed(texts, options) {
      if (options?.priority !== 'query') return embedder.embed(texts, options);
      options.signal?.throwIfAborted();
      const known = newest;
      const keys = texts.map(digest);
      const found = keys.map((key) => known.get(key));
      const missing = texts.filter((_, i) => found[i] === undefined);
      const made = missing.length === 0 ? [] : await embedder.embed(missing, options);
      let next = 0;
      return keys.map((key, i) => {
        const vector = found[i] ?? (found[i] === null ? null : (made[next++] ?? null));
        remember(known, key, vector);
        return vector?.slice();
      });
    },
    forgetQueries() {
      newest = new Map();
    },
    close() {
      newest.clear();
      return embedder.close();
    },
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
