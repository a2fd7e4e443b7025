// What a memory's policy and its restrictions keep from readers, told part by part from columns and lists: no grain is
// opened for it. A memory that hides nothing is not slowed down by any of it.
import type { CallContext } from '../../calls/context.ts';
import { DEFAULT_PURPOSE } from '../../govern/consent/consent.ts';
import type { Governed } from '../../govern/governed.ts';
import { keepsForever, namespaceTtlDays } from '../../govern/policy/retention.ts';
import type { Rules } from '../../govern/policy/rules.ts';
import { DocSet } from '../../index/docs/docset.ts';
import type { Doc, IndexPart } from '../../index/parts/part.ts';
import type { Store } from '../../store/store.ts';

const DAY_MS = 86_400_000;

/** As a recall tells them among its reasons. */
export type HiddenReason = 'processing_restricted' | 'consent_revoked' | 'ttl_expired';

type Test = (doc: Doc) => boolean;

/** Tests that a doc passes unless it is hidden; none when nothing of the part is. Each is asked of every doc that a leg meets. */
export function shownIn(store: Store, part: IndexPart, context: CallContext): readonly Test[] {
  const nowMs = store.clock.nowMs();
  const tests: Test[] = [];
  const governed = governedIn(store, context);
  if (governed !== undefined) {
    const words = peopleIn(part, governed, context.purpose ?? DEFAULT_PURPOSE, nowMs).all?.words;
    if (words !== undefined) tests.push((doc) => (words[doc >>> 5]! & (1 << (doc & 31))) === 0);
    const outlived = outlivedIn(part, governed, nowMs);
    if (outlived !== undefined) tests.push((doc) => !outlived(doc));
  }
  const expires = part.numbers('expiresAtMs');
  if (expires !== undefined) tests.push((doc) => !(expires[doc]! <= nowMs));
  return tests;
}

/** Undefined where nothing is hidden, and for a call that is about no memory (`memory` 0). */
function governedIn(store: Store, { memory }: CallContext): Governed | undefined {
  const governed = store.holds(memory) ? store.memory(memory).governed : undefined;
  return governed?.hidesNothing === true ? undefined : governed;
}

interface Hiding {
  readonly reason: HiddenReason;
  readonly hides: Test;
}

/** What hides docs of a part from a caller now. At least one is hidden. */
export interface HidingNow {
  /** Another one where other people are hidden, or for another purpose. */
  readonly key: string;
  /** In the order in which they are told. */
  readonly reasons: readonly Hiding[];
  /** When the time of a doc is over, in milliseconds; infinite: never. */
  readonly endOf: (doc: Doc) => number;
  /** The moment, in milliseconds, up to which the people stay the same. */
  readonly untilMs: number;
}

/** Undefined when nothing of the part is hidden. */
export function hidingIn(store: Store, part: IndexPart, context: CallContext): HidingNow | undefined {
  const nowMs = store.clock.nowMs();
  const governed = governedIn(store, context);
  const purpose = context.purpose ?? DEFAULT_PURPOSE;
  const people = governed === undefined ? undefined : peopleIn(part, governed, purpose, nowMs);
  const outlived = governed === undefined ? undefined : outlivedIn(part, governed, nowMs);
  const expires = earliestEnd(part) <= nowMs ? part.numbers('expiresAtMs') : undefined;
  const { restricted, withdrawn } = people ?? {};
  const reasons: Hiding[] = [];
  if (restricted !== undefined) reasons.push({ reason: 'processing_restricted', hides: (doc) => restricted.has(doc) });
  if (withdrawn !== undefined) reasons.push({ reason: 'consent_revoked', hides: (doc) => withdrawn.has(doc) });
  if (outlived !== undefined) reasons.push({ reason: 'ttl_expired', hides: outlived });
  if (expires !== undefined) reasons.push({ reason: 'ttl_expired', hides: (doc) => expires[doc]! <= nowMs });
  if (reasons.length === 0) return undefined;
  const key = governed === undefined ? '' : `${idOf(governed)}.${governed.stamp}.${purpose}`;
  return { key, reasons, endOf: endsIn(part, governed), untilMs: people?.untilMs ?? Number.POSITIVE_INFINITY };
}

const ids = new WeakMap<Governed, number>();
let lastId = 0;

/** A memory that is opened again counts its changes from the beginning. */
function idOf(governed: Governed): number {
  let id = ids.get(governed);
  if (id === undefined) {
    lastId += 1;
    id = lastId;
    ids.set(governed, id);
  }
  return id;
}

function endsIn(part: IndexPart, governed: Governed | undefined): (doc: Doc) => number {
  const { createdAtMs } = part;
  const expires = part.numbers('expiresAtMs');
  const ttlMs = governed === undefined || keepsForever(governed.rules) ? undefined : timesToLive(part, governed);
  return (doc) => {
    const own = expires?.[doc] ?? Number.NaN;
    const byPolicy = ttlMs === undefined ? Number.POSITIVE_INFINITY : createdAtMs[doc]! + ttlMs[doc]!;
    return Number.isNaN(own) ? byPolicy : Math.min(own, byPolicy);
  };
}

const knownEnds = new WeakMap<IndexPart, { readonly docCount: number; readonly atMs: number }>();

/** When the first doc of the part ends by its own `expires_at`, in milliseconds; infinite: none does. */
function earliestEnd(part: IndexPart): number {
  const expires = part.numbers('expiresAtMs');
  if (expires === undefined) return Number.POSITIVE_INFINITY;
  const { docCount } = part;
  const last = knownEnds.get(part);
  if (last?.docCount === docCount) return last.atMs;
  // A part only grows: each recall looks at what was added since the last one.
  let { atMs, docCount: doc } = last ?? { atMs: Number.POSITIVE_INFINITY, docCount: 0 };
  for (; doc < docCount; doc++) if (expires[doc]! < atMs) atMs = expires[doc]!;
  knownEnds.set(part, { docCount, atMs });
  return atMs;
}

interface People {
  readonly governed: Governed;
  readonly stamp: number;
  readonly docCount: number;
  readonly purpose: string;
  readonly untilMs: number;
  readonly restricted: DocSet | undefined;
  readonly withdrawn: DocSet | undefined;
  /** Both together. */
  readonly all: DocSet | undefined;
}

/** Finding whose grains they are asks the part for each user, so it is kept until one of them, or the part, changes. */
const known = new WeakMap<IndexPart, People>();

function peopleIn(part: IndexPart, governed: Governed, purpose: string, nowMs: number): People {
  const last = known.get(part);
  if (
    last !== undefined &&
    last.governed === governed &&
    last.stamp === governed.stamp &&
    last.docCount === part.docCount &&
    last.purpose === purpose &&
    nowMs < last.untilMs
  )
    return last;
  const withdrawn = governed.rules['consent.on_read']
    ? governed.withdrawn(purpose, nowMs)
    : { users: [], untilMs: Number.POSITIVE_INFINITY };
  const found: People = {
    governed,
    stamp: governed.stamp,
    docCount: part.docCount,
    purpose,
    untilMs: withdrawn.untilMs,
    restricted: docsOfUsers(part, governed.restrictions.keys()),
    withdrawn: docsOfUsers(part, withdrawn.users),
    all: docsOfUsers(part, [...governed.restrictions.keys(), ...withdrawn.users]),
  };
  known.set(part, found);
  return found;
}

/** The docs of grains that belong to any of the users; undefined: none does. */
export function docsOfUsers(part: IndexPart, users: Iterable<string>): DocSet | undefined {
  let set: DocSet | undefined;
  for (const user of users) {
    const docs = part.facet('user', user);
    if (docs === undefined) continue;
    set ??= new DocSet(part.docCount);
    set.or(docs);
  }
  return set;
}

/** By the times to live of the policy; a grain's own end is another matter. */
function outlivedIn(part: IndexPart, governed: Governed, nowMs: number): ((doc: Doc) => boolean) | undefined {
  const { rules } = governed;
  const { createdAtMs } = part;
  const byDefault = rules['retention.default_ttl_days'];
  const isDetailed =
    Object.keys(rules['retention.by_namespace']).length > 0 || Object.keys(rules['retention.by_type']).length > 0;
  if (isDetailed) {
    const ttl = timesToLive(part, governed);
    return (doc) => createdAtMs[doc]! + ttl[doc]! <= nowMs;
  }
  if (byDefault === null) return undefined;
  const upTo = nowMs - byDefault * DAY_MS;
  if (oldestIn(part) > upTo) return undefined;
  return (doc) => createdAtMs[doc]! <= upTo;
}

interface Oldest {
  readonly docCount: number;
  readonly createdAtMs: number;
}

const knownOldest = new WeakMap<IndexPart, Oldest>();

/** When the oldest doc of the part was created, in milliseconds: most parts are younger than what expires. */
function oldestIn(part: IndexPart): number {
  const { docCount, createdAtMs } = part;
  if (docCount === 0) return Number.POSITIVE_INFINITY;
  if (part.chronological) return createdAtMs[0]!;
  const last = knownOldest.get(part);
  if (last?.docCount === docCount) return last.createdAtMs;
  let { createdAtMs: oldest, docCount: doc } = last ?? { createdAtMs: Number.POSITIVE_INFINITY, docCount: 0 };
  for (; doc < docCount; doc++) oldest = Math.min(oldest, createdAtMs[doc]!);
  knownOldest.set(part, { docCount, createdAtMs: oldest });
  return oldest;
}

interface Times {
  readonly sealHash: string;
  readonly docCount: number;
  readonly ttlMs: Float64Array;
}

const knownTimes = new WeakMap<IndexPart, Times>();

/** Of each doc, in milliseconds; infinite where the policy sets none. Kept as long as policy and part are the same. */
export function timesToLive(part: IndexPart, { policy: { rules, sealHash } }: Governed): Float64Array {
  const last = knownTimes.get(part);
  if (last !== undefined && last.sealHash === sealHash && last.docCount === part.docCount) return last.ttlMs;
  const ttlMs = timesUnder(part, rules);
  knownTimes.set(part, { sealHash, docCount: part.docCount, ttlMs });
  return ttlMs;
}

/** The same under rules that need not be those that hold. */
export function timesUnder(part: IndexPart, rules: Rules): Float64Array {
  const byDefault = rules['retention.default_ttl_days'];
  const ttlMs = new Float64Array(part.docCount).fill(
    byDefault === null ? Number.POSITIVE_INFINITY : byDefault * DAY_MS,
  );
  const limit = (docs: Uint32Array | undefined, days: number): void => {
    for (const doc of docs ?? []) ttlMs[doc] = Math.min(ttlMs[doc]!, days * DAY_MS);
  };
  for (const [type, days] of Object.entries(rules['retention.by_type'])) limit(part.facet('type', type), days);
  if (Object.keys(rules['retention.by_namespace']).length > 0)
    for (const [namespace] of part.facetValues('namespace')) {
      const days = namespaceTtlDays(namespace, rules);
      if (days !== undefined) limit(part.facet('namespace', namespace), days);
    }
  return ttlMs;
}
