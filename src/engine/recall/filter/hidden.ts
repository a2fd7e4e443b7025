// Finds the docs that a memory's policy and restrictions hide, for each part from its columns and lists, without
// opening a grain. Costs nothing for a memory that hides nothing.
import { ACCESS_CALLERS_CACHED_MAX } from '../../base/limits.ts';
import type { CallContext } from '../../calls/context.ts';
import { DEFAULT_PURPOSE } from '../../govern/consent/consent.ts';
import type { Governed } from '../../govern/governed.ts';
import { keepsForever, namespaceTtlDays } from '../../govern/policy/retention.ts';
import type { Rules } from '../../govern/policy/rules.ts';
import { DocSet } from '../../index/docs/docset.ts';
import type { Doc, IndexPart } from '../../index/parts/part.ts';
import { fromUser } from '../../store/indexed-fields.ts';
import type { Store } from '../../store/store.ts';
import { viewedSet } from '../../store/viewed-docs.ts';

const DAY_MS = 86_400_000;

/** The reasons for hiding, as a recall reports them. */
export type HiddenReason = 'processing_restricted' | 'consent_revoked' | 'ttl_expired' | 'access_denied';

type Test = (doc: Doc) => boolean;

/** Tests that only visible docs pass; empty if nothing in the part is hidden. Legs run them on every doc they meet. */
export function shownIn(store: Store, part: IndexPart, context: CallContext): readonly Test[] {
  const nowMs = store.clock.nowMs();
  const tests: Test[] = [];
  const governed = governedIn(store, context);
  if (governed !== undefined) {
    const words = peopleIn(part, governed, context.purpose ?? DEFAULT_PURPOSE, nowMs).all?.words;
    if (words !== undefined) tests.push((doc) => (words[doc >>> 5]! & (1 << (doc & 31))) === 0);
    const outlived = outlivedIn(part, governed, nowMs);
    if (outlived !== undefined) tests.push((doc) => !outlived(doc));
    const viewed = viewedIn(part, governed, context)?.words;
    if (viewed !== undefined) tests.push((doc) => (viewed[doc >>> 5]! & (1 << (doc & 31))) !== 0);
  }
  const expires = earliestEnd(part) <= nowMs ? part.numbers('expiresAtMs') : undefined;
  if (expires !== undefined) tests.push((doc) => !(expires[doc]! <= nowMs));
  return tests;
}

/** Undefined if nothing is hidden, and for a call without a memory (`memory` 0). */
function governedIn(store: Store, context: CallContext): Governed | undefined {
  const { memory } = context;
  const governed = store.holds(memory) ? store.memory(memory).governed : undefined;
  return governed?.hidesNothingFrom(context) === true ? undefined : governed;
}

interface Hiding {
  readonly reason: HiddenReason;
  readonly hides: Test;
}

/** The reasons that currently hide docs of a part from a caller. At least one doc is hidden. */
export interface HidingNow {
  /** Cache key: differs if other people are hidden, or if the purpose differs. */
  readonly key: string;
  /** In reporting order. */
  readonly reasons: readonly Hiding[];
  /** When a doc expires, in ms; Infinity: never. */
  readonly endOf: (doc: Doc) => number;
  /** The time until which the set of hidden people stays the same, in epoch ms. */
  readonly untilMs: number;
}

/** The reasons that hide docs of this part; undefined if nothing is hidden. */
export function hidingIn(store: Store, part: IndexPart, context: CallContext): HidingNow | undefined {
  const nowMs = store.clock.nowMs();
  const governed = governedIn(store, context);
  const purpose = context.purpose ?? DEFAULT_PURPOSE;
  const people = governed === undefined ? undefined : peopleIn(part, governed, purpose, nowMs);
  const outlived = governed === undefined ? undefined : outlivedIn(part, governed, nowMs);
  const viewed = governed === undefined ? undefined : viewedIn(part, governed, context);
  const expires = earliestEnd(part) <= nowMs ? part.numbers('expiresAtMs') : undefined;
  const { restricted, withdrawn } = people ?? {};
  const reasons: Hiding[] = [];
  // First: the other reasons are reported to the caller, who must not learn how many strangers are restricted.
  if (viewed !== undefined) reasons.push({ reason: 'access_denied', hides: (doc) => !viewed.has(doc) });
  if (restricted !== undefined) reasons.push({ reason: 'processing_restricted', hides: (doc) => restricted.has(doc) });
  if (withdrawn !== undefined) reasons.push({ reason: 'consent_revoked', hides: (doc) => withdrawn.has(doc) });
  if (outlived !== undefined) reasons.push({ reason: 'ttl_expired', hides: outlived });
  if (expires !== undefined) reasons.push({ reason: 'ttl_expired', hides: (doc) => expires[doc]! <= nowMs });
  if (reasons.length === 0) return undefined;
  const view = governed?.viewFor(context, 'viewer')?.key ?? '';
  const key = governed === undefined ? '' : `${idOf(governed)}.${governed.stamp}.${purpose}.${view}`;
  return { key, reasons, endOf: endsIn(part, governed), untilMs: people?.untilMs ?? Number.POSITIVE_INFINITY };
}

const ids = new WeakMap<Governed, number>();
let lastId = 0;

/** Identifies the opened memory, because its change counter restarts when it is opened again. */
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

/** The earliest `expires_at` in the part, in ms; Infinity if there is none. */
function earliestEnd(part: IndexPart): number {
  const expires = part.numbers('expiresAtMs');
  if (expires === undefined) return Number.POSITIVE_INFINITY;
  const { docCount } = part;
  const last = knownEnds.get(part);
  if (last?.docCount === docCount) return last.atMs;
  // A part only grows, so look only at docs added since the last call.
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
  /** The union of `restricted` and `withdrawn`. */
  readonly all: DocSet | undefined;
}

/** Finding the docs of hidden users costs one lookup a user, so the result is cached until the users or the part change. */
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

interface Viewed {
  readonly governed: Governed;
  readonly stamp: number;
  readonly docCount: number;
  /** By the caller's view, the oldest first. */
  readonly callers: Map<string, DocSet | undefined>;
}

/** Finding the docs of a caller's namespaces costs one check a namespace, so the result is cached for recent callers. */
const knownViews = new WeakMap<IndexPart, Viewed>();

/** The docs in namespaces that the caller may view; undefined if tuples hide no doc of the part from the caller. */
function viewedIn(part: IndexPart, governed: Governed, context: CallContext): DocSet | undefined {
  const view = governed.viewFor(context, 'viewer');
  if (view === undefined) return undefined;
  const { stamp } = governed;
  const { docCount } = part;
  let last = knownViews.get(part);
  if (last?.governed !== governed || last.stamp !== stamp || last.docCount !== docCount) {
    last = { governed, stamp, docCount, callers: new Map() };
    knownViews.set(part, last);
  }
  const { callers } = last;
  if (callers.has(view.key)) return callers.get(view.key);
  const set = viewedSet(part, view);
  const docs = set.count() === docCount ? undefined : set;
  if (callers.size >= ACCESS_CALLERS_CACHED_MAX) callers.delete(callers.keys().next().value ?? view.key);
  callers.set(view.key, docs);
  return docs;
}

/** The docs of these users, and those that were written from them; undefined if there are none. */
export function docsOfUsers(part: IndexPart, users: Iterable<string>): DocSet | undefined {
  let set: DocSet | undefined;
  for (const user of users) {
    for (const docs of [part.facet('user', user), part.facet('field', fromUser(user))]) {
      if (docs === undefined) continue;
      set ??= new DocSet(part.docCount);
      set.or(docs);
    }
  }
  return set;
}

/** Docs expired by the policy's times to live. A grain's own `expires_at` is handled elsewhere. */
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

/** Creation time of the oldest doc in the part, in ms. Lets callers skip parts that are too young to have expired docs. */
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

/** Time to live of each doc, in ms; Infinity if the policy sets none. Cached until the policy or the part changes. */
export function timesToLive(part: IndexPart, { policy: { rules, sealHash } }: Governed): Float64Array {
  const last = knownTimes.get(part);
  if (last !== undefined && last.sealHash === sealHash && last.docCount === part.docCount) return last.ttlMs;
  const ttlMs = timesUnder(part, rules);
  knownTimes.set(part, { sealHash, docCount: part.docCount, ttlMs });
  return ttlMs;
}

/** Time to live of each doc under any rules, in ms. */
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
