// The shard's side of embedding: selects grains that need vectors, and stores the vectors. How far a memory is embedded
// is stored with its vectors, so the process keeps only a set of memories to examine.

import { EngineError } from '../../base/errors.ts';
import {
  EMBED_FRESH_CHARS,
  EMBED_FRESH_GRAINS,
  EMBED_MEMORIES_LOOKED_AT,
  EMBED_OUTSIDE_PAGE_CHARS,
  EMBED_PAGE_CHARS,
  EMBED_REDACTED_PAGE_CHARS,
  VECTOR_DIMENSIONS_MAX,
  VECTORS_LOADED_AT_ONCE_MAX,
  VECTORS_SEAL,
} from '../../base/limits.ts';
import type { ShardWideCalls } from '../../calls/shard.ts';
import { PURPOSES } from '../../govern/decide.ts';
import { egressAction, egressCategories, isRegionListed } from '../../govern/policy/in-force.ts';
import type { EgressAction } from '../../govern/policy/rules.ts';
import { sourceUsersOf } from '../../grain/api/source-users.ts';
import { searchText } from '../../grain/api/text.ts';
import type { Grain } from '../../grain/grain.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import { lowerBound } from '../../index/text/tail.ts';
import type { Range } from '../../index/vectors/coverage.ts';
import { isSameStamp } from '../../index/vectors/memory-vectors.ts';
import { unpackVectors } from '../../index/vectors/transfer.ts';
import { isUnitVector } from '../../index/vectors/vector-index.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { withoutPii } from '../../text/pii/egress.ts';

type Calls<M extends 'embedPages' | 'keepVectors'> = ShardWideCalls[M];
type Embedders = Calls<'embedPages'>['input']['embedders'];

/** The `vectorBackend` of a memory without vectors. */
const NO_VECTORS = 'none';

/**
 * Ranges of memories' logs without vectors of their embedders, with `grainsMax` grains in all. A memory with nothing
 * left is marked as embedded up to here. One that should have no vectors loses those that it has. Returns nothing while
 * vectors wait to be sealed, because vectors that are in no file are made again after a crash.
 */
export function embedPages(
  store: Store,
  { embedders, grainsMax, outside = [], region, fresh }: Calls<'embedPages'>['input'],
): Calls<'embedPages'>['output'] {
  const { vectors, vectorsBehind } = store;
  takeEmbedders(store, embedders);
  if (fresh === true)
    return { pages: freshPages(store, { embedders, grainsMax, outside, region }), looked: 0, waiting: 0 };
  const pages: Calls<'embedPages'>['output']['pages'][number][] = [];
  let left = grainsMax;
  const lookedMax = Math.min(EMBED_MEMORIES_LOOKED_AT, vectorsBehind.size);
  let looked = 0;
  for (const memory of vectorsBehind) {
    if (left <= 0 || looked >= lookedMax || vectors.unsealed >= VECTORS_SEAL * 2) break;
    looked += 1;
    // To the end of the queue, since memories take turns.
    vectorsBehind.delete(memory);
    if (!store.holds(memory)) continue;
    const backend = backendOf(store, memory);
    if (backend === undefined) continue;
    if (backend === NO_VECTORS) {
      vectors.dropMemory(memory);
      continue;
    }
    const embedder = store.embedders.get(backend);
    if (embedder === undefined || embedders[backend] === undefined) {
      vectorsBehind.add(memory);
      continue;
    }
    const leaving = outside.includes(backend) ? egressOf(store, memory, region) : WHOLE;
    if (leaving === undefined || leaving.action === 'block') {
      vectorsBehind.add(memory);
      continue;
    }
    vectors.use(memory, embedder);
    const charsMax =
      leaving.action === 'redact'
        ? EMBED_REDACTED_PAGE_CHARS
        : outside.includes(backend)
          ? EMBED_OUTSIDE_PAGE_CHARS
          : EMBED_PAGE_CHARS;
    const page = pageOf(store, memory, { grainsMax: left, charsMax, leaving });
    if (page === undefined) continue;
    vectorsBehind.add(memory);
    if (page === 'loading') continue;
    left -= page.grains.length;
    store.vectorsHandedOut.set(memory, page.upTo);
    pages.push({ ...page, backend });
  }
  return { pages, looked, waiting: vectorsBehind.size };
}

/**
 * VAL-E001 for an embedder whose vectors are too long. When a backend's embedder changed, its memories are examined
 * again.
 */
function takeEmbedders(store: Store, embedders: Embedders): void {
  let isChanged = false;
  for (const [backend, embedder] of Object.entries(embedders)) {
    const { dimensions } = embedder;
    if (!(Number.isInteger(dimensions) && dimensions > 0 && dimensions <= VECTOR_DIMENSIONS_MAX))
      throw new EngineError('VAL-E001', `vectors have 1 to ${VECTOR_DIMENSIONS_MAX} dimensions, not ${dimensions}`);
    const before = store.embedders.get(backend);
    if (before !== undefined && isSameStamp(before, embedder)) continue;
    store.embedders.set(backend, embedder);
    isChanged ||= before !== undefined;
  }
  // The memories of all backends, since the backend of a memory is known only when it is examined.
  if (isChanged) for (const memory of store.memoryNumbers()) store.vectorsBehind.add(memory);
}

/** How texts may be sent. */
interface Egress {
  readonly action: EgressAction;
  /** Only texts whose persons have a grant for `cross_border`. */
  readonly byConsent: boolean;
}

const WHOLE: Egress = { action: 'allow', byConsent: false };

/**
 * How the memory's policy treats texts that would leave for a service in a region; undefined for a memory that does not
 * open.
 */
function egressOf(store: Store, memory: number, region: string | undefined): Egress | undefined {
  try {
    const { rules } = store.memory(memory).governed;
    const isListed = rules['residency.regions'].length === 0 || (region !== undefined && isRegionListed(rules, region));
    if (!rules['residency.enforce'] || isListed) return { action: egressAction(rules), byConsent: false };
    const byConsent = rules['residency.cross_border_consent'];
    return { action: byConsent ? egressAction(rules) : 'block', byConsent };
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

/** Undefined for a memory that does not open. It is examined again after its next write. */
function backendOf(store: Store, memory: number): string | undefined {
  try {
    return store.memory(memory).settings.vectorBackend ?? '';
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

/** Undefined when nothing waits; `loading` while many vectors must be loaded before one can be added. */
function pageOf(
  store: Store,
  number: number,
  { grainsMax, charsMax, leaving }: { readonly grainsMax: number; readonly charsMax: number; readonly leaving: Egress },
) {
  const { vectors, index } = store;
  try {
    const memory = store.memory(number);
    const categories = egressCategories(memory.governed.rules);
    const redacts = leaving.action === 'redact';
    const after = vectors.embeddedUpTo(number);
    const published = index.publishedSequence;
    const ordinals = ordinalsAfter(store, number, after, grainsMax + 1);
    if (ordinals.length > 0 && vectors.rowsToAdd(number) > VECTORS_LOADED_AT_ONCE_MAX) {
      vectors.prepare(number);
      return 'loading';
    }
    const grains: { ordinal: Ordinal; text: string }[] = [];
    let looked = 0;
    for (let chars = 0; looked < Math.min(ordinals.length, grainsMax) && chars < charsMax; looked++) {
      const ordinal = ordinals[looked]!;
      const text = vectors.isEmbedded(number, ordinal) ? '' : textOf(store, memory, ordinal, leaving);
      if (text !== '') grains.push({ ordinal, text: redacts ? withoutPii(text, categories) : text });
      chars += text.length;
    }
    const isLast = looked === ordinals.length;
    const upTo = isLast ? published : ordinals[looked - 1]!;
    if (grains.length > 0) return { memory: number, after, upTo, grains };
    // If no grain was examined, the mark would change nothing, except that vectors of another embedder may be dropped.
    if (upTo > after && (looked > 0 || vectors.hasOthers(number))) vectors.advance(number, upTo);
    return isLast ? undefined : { memory: number, after: upTo, upTo, grains };
  } catch (error) {
    // Like a memory that does not open.
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

/**
 * The newest short grains of memories that were just written to. They are embedded before their memory's backlog, and
 * before a turn that would come late. Each memory is examined once for all its new writes.
 */
function freshPages(
  store: Store,
  { embedders, grainsMax, outside = [], region }: Omit<Calls<'embedPages'>['input'], 'fresh'>,
): Page[] {
  const { vectors, vectorsFresh } = store;
  const pages: Page[] = [];
  let left = grainsMax;
  let looked = 0;
  for (const memory of [...vectorsFresh]) {
    if (left <= 0 || looked >= EMBED_MEMORIES_LOOKED_AT || vectors.unsealed >= VECTORS_SEAL * 2) break;
    const backend = store.holds(memory) ? backendOf(store, memory) : NO_VECTORS;
    // It belongs to another embedder, whose follower asks for itself.
    if (backend !== undefined && backend !== NO_VECTORS && embedders[backend] === undefined) continue;
    looked += 1;
    vectorsFresh.delete(memory);
    const embedder = backend === undefined ? undefined : store.embedders.get(backend);
    if (backend === undefined || backend === NO_VECTORS || embedder === undefined) continue;
    const leaving = outside.includes(backend) ? egressOf(store, memory, region) : WHOLE;
    if (leaving === undefined || leaving.action === 'block') continue;
    vectors.use(memory, embedder);
    const page = freshPageOf(store, memory, leaving);
    if (page === undefined) continue;
    left -= page.grains.length;
    pages.push({ ...page, backend });
  }
  return pages;
}

type Page = Calls<'embedPages'>['output']['pages'][number];

/** Undefined when nothing short was just written, or when nothing is queued before it. */
function freshPageOf(store: Store, number: number, leaving: Egress): Omit<Page, 'backend'> | undefined {
  const { vectors, index } = store;
  try {
    const memory = store.memory(number);
    // The vectors of another embedder are used until this one has caught up, in order. Many vectors must be loaded
    // first.
    if (vectors.hasOthers(number) || vectors.rowsToAdd(number) > VECTORS_LOADED_AT_ONCE_MAX) return undefined;
    const published = index.publishedSequence;
    const cursor = vectors.embeddedUpTo(number);
    const last = vectors.covered(number).at(-1)?.upTo ?? 0;
    const categories = egressCategories(memory.governed.rules);
    const redacts = leaving.action === 'redact';
    const grains: { ordinal: Ordinal; text: string }[] = [];
    // The range begins after the newest grain that is not taken.
    let after = Math.max(cursor, last, store.vectorsHandedOut.get(number) ?? 0);
    let chars = 0;
    for (const ordinal of newestFirst(store, number, after)) {
      const text = textOf(store, memory, ordinal, leaving);
      chars += text.length;
      if (grains.length >= EMBED_FRESH_GRAINS || chars > EMBED_FRESH_CHARS) {
        after = ordinal;
        break;
      }
      if (text !== '') grains.push({ ordinal, text: redacts ? withoutPii(text, categories) : text });
    }
    if (grains.length === 0) return undefined;
    return { memory: number, after, upTo: published, aheadOf: cursor, grains: grains.reverse() };
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

/** Live ordinals of a memory above `after`, newest first. */
function* newestFirst(store: Store, memory: number, after: Ordinal): Generator<Ordinal, void, void> {
  const parts = store.parts(memory);
  for (let at = parts.length - 1; at >= 0; at--) {
    const { ordinals, docCount } = parts[at]!;
    for (let doc = docCount - 1; doc >= 0; doc--) {
      const ordinal = ordinals[doc]!;
      if (ordinal <= after) return;
      if (!store.index.removed.get(ordinal)) yield ordinal;
    }
  }
}

/** Empty for a grain without words, and for one that may not be sent. */
function textOf(store: Store, memory: Memory, ordinal: Ordinal, { byConsent }: Egress): string {
  const stored = store.readGrain(memory, ordinal);
  if (stored === undefined || (byConsent && !mayCross(store, memory, stored.grain))) return '';
  return searchText(stored.grain);
}

/** A text of nobody may be about anyone, and nobody can grant that it crosses a border. */
function mayCross({ clock }: Store, { governed }: Memory, { fields }: Pick<Grain, 'fields'>): boolean {
  const user = fields['user_id'];
  const persons = [...(typeof user === 'string' && user !== '' ? [user] : []), ...sourceUsersOf(fields)];
  const nowMs = clock.nowMs();
  const lets = (one: string): boolean =>
    !governed.isRestricted(one) && governed.isGranted(one, PURPOSES.crossBorder, nowMs);
  return persons.length > 0 && persons.every(lets);
}

/** At most `limit` live ordinals of a memory above `after`, ascending. */
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

/**
 * Stores the vectors of a page. A page that is out of date, because the vectors were dropped meanwhile, is ignored. A
 * grain with an invalid vector (wrong length, or not of norm 1) is found by its words alone.
 */
export function keepVectors(store: Store, page: Calls<'keepVectors'>['input']): Calls<'keepVectors'>['output'] {
  const { vectors, index } = store;
  const { memory, embedder, after, upTo, grains } = page;
  const isCurrent =
    store.holds(memory) &&
    isSameStamp(vectors.embedderOf(memory), embedder) &&
    isNext(store, page) &&
    upTo <= index.publishedSequence;
  if (!isCurrent) return { kept: 0 };
  let kept = 0;
  for (const { ordinal, vectors: bytes } of grains) {
    if (index.removed.get(ordinal) || bytes.length % (Float32Array.BYTES_PER_ELEMENT * embedder.dimensions) !== 0)
      continue;
    const own = unpackVectors(bytes, embedder.dimensions);
    if (own.length === 0 || !own.every(isUnitVector)) continue;
    vectors.add(memory, ordinal, own);
    kept += 1;
  }
  vectors.cover(memory, { after, upTo });
  return { kept };
}

/** True when the page continues the embedding of the memory: after the first covered range, or beyond all of them. */
function isNext(store: Store, { memory, after, aheadOf }: Calls<'keepVectors'>['input']): boolean {
  const cursor = store.vectors.embeddedUpTo(memory);
  if (aheadOf === undefined || cursor < aheadOf) return cursor === after;
  return after >= (store.vectors.covered(memory).at(-1)?.upTo ?? 0);
}

export interface VectorState {
  /** The embedder of the vectors that recalls compare; absent when there are none. */
  readonly serving?: Calls<'keepVectors'>['input']['embedder'] | undefined;
  /** Grains that the memory's embedder has not processed yet. */
  readonly lag: number;
}

/** How far the vectors of a memory lag behind its grains. */
export function vectorState(store: Store, memory: number): VectorState {
  const { vectors, vectorsBehind } = store;
  const serving = vectors.serving(memory);
  const backend = vectorsBehind.has(memory) ? backendOf(store, memory) : undefined;
  const isFollowed = backend !== undefined && backend !== NO_VECTORS;
  const embedder = isFollowed ? (store.embedders.get(backend) ?? vectors.embedderOf(memory)) : undefined;
  const lag =
    embedder === undefined
      ? 0
      : grainsOutside(store, memory, vectors.covered(memory, embedder), store.index.publishedSequence);
  return { lag, serving };
}

/** Grains of a memory up to `upTo` that its embedder has not processed; all of them while its embedder is unknown. */
export function vectorLag(store: Store, memory: number, upTo: Ordinal): number {
  const { vectors, vectorsBehind } = store;
  const backend = vectorsBehind.has(memory) ? backendOf(store, memory) : undefined;
  if (backend === undefined || backend === NO_VECTORS) return 0;
  const embedder = store.embedders.get(backend);
  return grainsOutside(store, memory, embedder === undefined ? [] : vectors.covered(memory, embedder), upTo);
}

/** Live grains of a memory up to `upTo` outside of the ranges. */
function grainsOutside(store: Store, memory: number, ranges: readonly Range[], upTo: Ordinal): number {
  let outside = grainsIn(store, memory, { after: 0, upTo });
  for (const range of ranges)
    outside -= grainsIn(store, memory, { after: range.after, upTo: Math.min(range.upTo, upTo) });
  return outside;
}

function grainsIn(store: Store, memory: number, { after, upTo }: Range): number {
  const { removed } = store.index;
  let count = 0;
  for (const { ordinals, docCount } of store.parts(memory)) {
    const from = lowerBound(ordinals, after + 1, 0, docCount);
    const to = lowerBound(ordinals, upTo + 1, 0, docCount);
    if (removed.count === 0) count += Math.max(0, to - from);
    else for (let doc = from; doc < to; doc++) if (!removed.get(ordinals[doc]!)) count += 1;
  }
  return count;
}
