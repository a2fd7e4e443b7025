// What embedding asks of a shard: which grains wait for vectors, and to keep the vectors that were made. How far a memory
// is embedded is kept with its vectors, so that nothing here outlives the process but a set of memories to look at.
import type { ShardWideCalls } from '../calls.ts';
import { EngineError } from '../errors.ts';
import { searchText } from '../grain/api-text.ts';
import type { Ordinal } from '../index/part.ts';
import { lowerBound } from '../index/text/tail.ts';
import { unpackVectors } from '../index/vectors/transfer.ts';
import { EMBED_MEMORIES_LOOKED_AT, VECTORS_SEAL } from '../limits.ts';
import type { Store } from '../store/store.ts';

type Calls<M extends 'embedPages' | 'keepVectors'> = ShardWideCalls[M];

/**
 * Stretches of memories' logs without vectors of the embedder, with `grainsMax` grains in all. A memory with nothing left is
 * noted as embedded up to here. None while vectors wait to be sealed: what is in no file is embedded again after a crash.
 */
export function embedPages(
  store: Store,
  { embedder, grainsMax }: Calls<'embedPages'>['input'],
): Calls<'embedPages'>['output'] {
  const { vectors, vectorsBehind } = store;
  vectors.use(embedder);
  const pages: Calls<'embedPages'>['output']['pages'][number][] = [];
  let left = grainsMax;
  let looked = 0;
  for (const memory of [...vectorsBehind]) {
    if (left <= 0 || looked++ >= EMBED_MEMORIES_LOOKED_AT || vectors.unsealed >= VECTORS_SEAL * 2) break;
    // To the end of the queue: memories take turns.
    vectorsBehind.delete(memory);
    if (!store.holds(memory)) continue;
    const page = pageOf(store, memory, left);
    if (page === undefined) continue;
    vectorsBehind.add(memory);
    left -= page.grains.length;
    pages.push(page);
  }
  return { pages, waiting: vectorsBehind.size };
}

function pageOf(store: Store, number: number, grainsMax: number) {
  const { vectors, index } = store;
  try {
    const memory = store.memory(number);
    const after = vectors.embeddedUpTo(number);
    const published = index.publishedSequence;
    const ordinals = ordinalsAfter(store, number, after, grainsMax + 1);
    const taken = ordinals.slice(0, grainsMax);
    const grains: { ordinal: Ordinal; text: string }[] = [];
    for (const ordinal of taken) {
      const text = vectors.isEmbedded(number, ordinal) ? '' : textOf(store, memory, ordinal);
      if (text !== '') grains.push({ ordinal, text });
    }
    const isLast = ordinals.length <= grainsMax;
    const upTo = isLast ? published : taken[taken.length - 1]!;
    if (grains.length > 0) return { memory: number, after, upTo, grains };
    if (upTo > after) vectors.advance(number, upTo);
    return isLast ? undefined : { memory: number, after: upTo, upTo, grains };
  } catch (error) {
    // A memory that does not open, or is damaged, is looked at again when somebody writes to it.
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

function textOf(store: Store, memory: ReturnType<Store['memory']>, ordinal: Ordinal): string {
  const stored = store.readGrain(memory, ordinal);
  return stored === undefined ? '' : searchText(stored.grain);
}

/** At most `limit` ordinals of a memory above `after`, ascending, without removed ones. */
function ordinalsAfter(store: Store, memory: number, after: Ordinal, limit: number): Ordinal[] {
  const found: Ordinal[] = [];
  for (const { ordinals, docCount } of store.parts(memory)) {
    if (docCount === 0 || ordinals[docCount - 1]! <= after) continue;
    for (let doc = lowerBound(ordinals, after + 1, 0, docCount); doc < docCount && found.length < limit; doc++)
      if (!store.index.removed.get(ordinals[doc]!)) found.push(ordinals[doc]!);
    if (found.length >= limit) break;
  }
  return found;
}

/** Keeps what was made of a page. Of a page that is out of date (the vectors were forgotten meanwhile), nothing. */
export function keepVectors(store: Store, page: Calls<'keepVectors'>['input']): Calls<'keepVectors'>['output'] {
  const { vectors, index } = store;
  const { memory, embedder, after, upTo, grains } = page;
  const isCurrent =
    store.holds(memory) && vectors.embedder.name === embedder.name && vectors.embeddedUpTo(memory) === after;
  if (!isCurrent) return { kept: 0 };
  let kept = 0;
  for (const { ordinal, vectors: bytes } of grains) {
    if (index.removed.get(ordinal)) continue;
    vectors.add(memory, ordinal, unpackVectors(bytes, embedder.dimensions));
    kept += 1;
  }
  vectors.advance(memory, upTo);
  return { kept };
}
