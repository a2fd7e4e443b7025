// Evidence from a random sample of a memory's grains: sources, confidence, contradictions, consent.

import { defined } from '../../base/defined.ts';
import { toNfc } from '../../base/nfc.ts';
import type { DataEvidence, RetentionEvidence } from '../../calls/compliance.ts';
import type { CallContext } from '../../calls/context.ts';
import { type ConsentFact, DEFAULT_PURPOSE, EVERY_PURPOSE, isOtherBasis } from '../../govern/consent/consent.ts';
import { openGrain } from '../../grain/codec/blob.ts';
import type { Grain } from '../../grain/grain.ts';
import { Float, type Value, type ValueMap } from '../../grain/value.ts';
import type { Sliced } from '../../index/files/section.ts';
import { type Doc, type Ordinal, pairKey } from '../../index/parts/part.ts';
import { lowerBound } from '../../index/text/tail.ts';
import { docsOfUsers, timesToLive } from '../../recall/filter/hidden.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { SENSITIVE_CATEGORIES } from '../../text/pii/categories.ts';
import { piiDetector } from '../../text/pii/detector.ts';
import { applyPiiPolicy } from '../../text/pii/write-action.ts';
import { personPage } from '../reports/person-page.ts';
import { unregistered } from './agents.ts';
import { grainKeysAt } from './keys.ts';

const DAY_MS = 86_400_000;
const REVOKED_LONG_AGO_MS = 30 * DAY_MS;
/** The sources that the contract lists. */
const LISTED_SOURCES: ReadonlySet<unknown> = new Set(['user', 'agent', 'system', 'webhook']);
/** Beliefs whose neighbours are looked up, and grains whose texts are searched for personal data. */
const COMPARED_MAX = 200;
const SCANNED_MAX = 200;
const NAMES_MAX = 100;
/** The most grains of a user whose export is tried. */
const EXPORTED_MAX = 5_000;
const EXPORT_PAGE_BYTES = 1 << 20;
/** Docs that are processed before other work gets its turn. */
const SLICE_DOCS = 16_384;
/** Records of grains that are processed before other work gets its turn. */
const SLICE_GRAINS = 4_096;
const LOW_CONFIDENCE = 0.3;

/** The policy's rule on consent, and since when it applies. */
export interface ConsentRule {
  readonly mode: string;
  readonly sinceMs: number;
}

export function* dataEvidence(
  store: Store,
  memory: Memory,
  {
    live,
    sampled,
    context,
  }: { readonly live: readonly Ordinal[]; readonly sampled: readonly Ordinal[]; readonly context: CallContext },
  rule: ConsentRule,
): Sliced<DataEvidence> {
  const tally = new Tally(store, memory, rule);
  for (const ordinal of sampled) {
    if (!store.index.superseded.get(ordinal)) {
      const stored = store.readGrain(memory, ordinal);
      if (stored !== undefined) tally.take(stored.grain, ordinal);
    }
    yield;
  }
  const userExport = yield* exportOfOne(store, memory, { live, sampled, context });
  let current = 0;
  for (let at = 0; at < live.length; at++) {
    if (!store.index.superseded.get(live[at]!)) current += 1;
    if (at % SLICE_DOCS === 0) yield;
  }
  return defined({
    grains: live.length,
    current,
    ...tally.counts,
    agentAuthors: [...tally.agentAuthors],
    unregisteredAuthors: unregistered(memory, [...tally.agentAuthors]),
    namespaces: [...tally.namespaces],
    purposes: [...tally.purposes],
    userExport,
  });
}

class Tally {
  readonly #store: Store;
  readonly #memory: Memory;
  readonly #rule: ConsentRule;
  readonly #detector = piiDetector();
  readonly agentAuthors = new Set<string>();
  readonly namespaces = new Set<string>();
  readonly purposes = new Set<string>();
  readonly counts = {
    sampled: 0,
    listedSource: 0,
    unnamedSource: 0,
    beliefs: 0,
    contradicted: 0,
    lowConfidence: 0,
    personal: 0,
    granted: 0,
    otherBasis: 0,
    unfounded: 0,
    sinceRule: 0,
    unfoundedSinceRule: 0,
    revokedLongAgo: 0,
    sensitive: 0,
    sensitiveUngranted: 0,
    assistantEvents: 0,
    unflaggedAssistant: 0,
    destructiveTools: 0,
    destructiveNotClient: 0,
  };

  constructor(store: Store, memory: Memory, rule: ConsentRule) {
    this.#store = store;
    this.#memory = memory;
    this.#rule = rule;
  }

  take({ type, fields }: Grain, ordinal: Ordinal): void {
    const { counts } = this;
    counts.sampled += 1;
    const source = fields['source_type'];
    if (source === undefined) counts.unnamedSource += 1;
    else if (LISTED_SOURCES.has(source)) counts.listedSource += 1;
    remember(this.namespaces, fields['namespace'] ?? 'default');
    if (fields['source_type'] === 'agent') remember(this.agentAuthors, fields['author_did']);
    if (type === 'belief') this.#takeBelief(fields, ordinal);
    if (type === 'event' && fields['role'] === 'assistant') {
      counts.assistantEvents += 1;
      if (fields['source_type'] !== 'agent') counts.unflaggedAssistant += 1;
    }
    if (type === 'action') this.#takeTool(fields);
    const userId = fields['user_id'];
    if (type !== 'consent' && typeof userId === 'string' && userId !== '') this.#takePersonal(type, fields, userId);
  }

  #takeBelief(fields: ValueMap, ordinal: Ordinal): void {
    const { counts } = this;
    counts.beliefs += 1;
    if ((numberOf(fields['confidence']) ?? 1) < LOW_CONFIDENCE) counts.lowConfidence += 1;
    const state = this.#store.status.verification(ordinal);
    if (state === 'contested' || state === 'retracted') counts.contradicted += 1;
    else if (counts.beliefs <= COMPARED_MAX && hasRival(this.#store, this.#memory.number, fields))
      counts.contradicted += 1;
  }

  #takeTool(fields: ValueMap): void {
    const { annotations, kind } = fields;
    const isDestructive = typeof annotations === 'object' && annotations !== null && 'destructive' in annotations;
    if (kind !== 'definition' || !isDestructive || annotations['destructive'] !== true) return;
    this.counts.destructiveTools += 1;
    if (fields['executor_kind'] !== 'client') this.counts.destructiveNotClient += 1;
  }

  #takePersonal(type: Grain['type'], fields: ValueMap, userId: string): void {
    const { counts } = this;
    const { governed } = this.#memory;
    const createdMs = numberOf(fields['created_at']) ?? 0;
    counts.personal += 1;
    const purpose = [DEFAULT_PURPOSE, EVERY_PURPOSE].find((one) =>
      wasGrantedAt(governed.consent(userId, one), createdMs),
    );
    const hasBasis = isOtherBasis(fields['processing_basis']);
    if (purpose !== undefined) {
      counts.granted += 1;
      this.purposes.add(purpose);
    } else if (hasBasis) counts.otherBasis += 1;
    else counts.unfounded += 1;
    const facts = [governed.consent(userId, DEFAULT_PURPOSE), governed.consent(userId, EVERY_PURPOSE)];
    const withdrawn = facts.find((fact) => fact !== undefined && !fact.granted);
    const nowMs = this.#store.clock.nowMs();
    if (withdrawn !== undefined && purpose !== undefined && nowMs - withdrawn.atMs > REVOKED_LONG_AGO_MS)
      counts.revokedLongAgo += 1;
    // A policy is sealed in whole seconds, so a grain of the same second may be older.
    if (this.#rule.mode !== 'none' && createdMs >= this.#rule.sinceMs + 1_000) {
      counts.sinceRule += 1;
      const refused =
        this.#rule.mode === 'opt_in' ? purpose === undefined : withdrawn !== undefined && withdrawn.atMs <= createdMs;
      if (refused && !hasBasis) counts.unfoundedSinceRule += 1;
    }
    if (counts.personal <= SCANNED_MAX) this.#takeSensitive(type, fields, userId);
  }

  #takeSensitive(type: Grain['type'], fields: ValueMap, userId: string): void {
    const policy = { action: 'flag', categories: SENSITIVE_CATEGORIES, sensitiveSeparate: false } as const;
    const { categories } = applyPiiPolicy(this.#detector, { type, fields }, policy, {
      purpose: DEFAULT_PURPOSE,
      granted: () => true,
    });
    if (categories.length === 0) return;
    this.counts.sensitive += 1;
    if (!this.#memory.governed.isGranted(userId, 'sensitive', this.#store.clock.nowMs()))
      this.counts.sensitiveUngranted += 1;
  }
}

/** Whether the newest fact for a purpose says that it was granted at that time. */
function wasGrantedAt(fact: ConsentFact | undefined, atMs: number): boolean {
  if (fact === undefined) return false;
  const grantedMs = fact.granted ? (fact.grantedAtMs ?? fact.atMs) : fact.grantedAtMs;
  if (grantedMs === undefined || Math.floor(grantedMs / 1000) > Math.floor(atMs / 1000)) return false;
  if (!fact.granted) return Math.floor(fact.atMs / 1000) >= Math.floor(atMs / 1000);
  return fact.expiresAtMs === undefined || fact.expiresAtMs > atMs;
}

/** True when another live belief of the same subject, relation, namespace and user has another object. */
function hasRival(store: Store, memory: number, fields: ValueMap): boolean {
  const [subject, relation, object] = [fields['subject'], fields['relation'], fields['object']].map(exact);
  if (subject === undefined || relation === undefined || object === undefined) return false;
  const user = exact(fields['user_id']);
  for (const part of store.parts(memory)) {
    const pair = part.facet('pair', pairKey(subject, relation));
    if (pair === undefined) continue;
    const same = part.facet('object', object);
    const near = part.facet('namespace', exact(fields['namespace']) ?? 'default');
    const beliefs = part.facet('type', 'belief');
    const own = user === undefined ? undefined : part.facet('user', user);
    for (const doc of pair) {
      const ordinal = part.ordinals[doc]!;
      if (store.index.removed.get(ordinal) || store.index.superseded.get(ordinal)) continue;
      if (holds(same, doc) || !holds(near, doc) || !holds(beliefs, doc)) continue;
      if (user === undefined || holds(own, doc)) return true;
    }
  }
  return false;
}

function numberOf(value: Value | undefined): number | undefined {
  if (value instanceof Float) return value.value;
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

/** Whether an ascending list contains the doc. */
function holds(docs: Uint32Array | undefined, doc: Doc): boolean {
  if (docs === undefined) return false;
  const at = lowerBound(docs, doc, 0, docs.length);
  return docs[at] === doc;
}

/** The value as the index facets have it. */
function exact(value: unknown): string | undefined {
  return typeof value === 'string' ? toNfc(value).trim() : undefined;
}

function remember(names: Set<string>, name: unknown): void {
  if (typeof name === 'string' && name !== '' && names.size < NAMES_MAX) names.add(name);
}

/** Exports one user of the sample as a caller would, and counts the grains under that user's key in the log. */
function* exportOfOne(
  store: Store,
  memory: Memory,
  {
    live,
    sampled,
    context,
  }: { readonly live: readonly Ordinal[]; readonly sampled: readonly Ordinal[]; readonly context: CallContext },
): Sliced<DataEvidence['userExport'] | undefined> {
  const one = userOfSample(store, memory, sampled) ?? userOfSample(store, memory, live);
  if (one === undefined) return undefined;
  let exported = 0;
  let parsed = 0;
  let after = 0;
  for (let done = false; !done && exported < EXPORTED_MAX; ) {
    const page = yield* personPage(store, memory, context, {
      userId: one.userId,
      after,
      limitBytes: EXPORT_PAGE_BYTES,
    });
    exported += page.grains.length;
    parsed += page.grains.filter(({ blob }) => openGrain(blob).fields['user_id'] === one.userId).length;
    done = page.done || page.last <= after;
    // A long export is compared only as far as it was read.
    after = done ? Number.POSITIVE_INFINITY : page.last;
  }
  let stored = 0;
  for (let at = 0; at < live.length; at++) {
    if (live[at]! <= after && grainKeysAt(store, live[at]!)?.key === one.key) stored += 1;
    if (at % SLICE_GRAINS === SLICE_GRAINS - 1) yield;
  }
  return { exported, parsed, stored };
}

/** The user and the key of the first grain that has a user. */
function userOfSample(
  store: Store,
  memory: Memory,
  ordinals: readonly Ordinal[],
): { readonly userId: string; readonly key: number } | undefined {
  for (const ordinal of ordinals.slice(0, SCANNED_MAX)) {
    const userId = store.readGrain(memory, ordinal)?.grain.fields['user_id'];
    const key = grainKeysAt(store, ordinal)?.key;
    if (typeof userId === 'string' && userId !== '' && key !== undefined) return { userId, key };
  }
  return undefined;
}

/** Counts expired grains among all grains. */
export function* retentionEvidence(store: Store, memory: Memory): Sliced<RetentionEvidence> {
  const { governed } = memory;
  const nowMs = store.clock.nowMs();
  let expired = 0;
  let expiredOverDay = 0;
  let held = 0;
  const isHeld = governed.rules['deletion.hold'];
  let hasLimit = hasTimeToLive(governed.rules);
  for (const part of store.parts(memory.number)) {
    const own = part.numbers('expiresAtMs');
    if (own !== undefined) hasLimit = true;
    const ttlMs = timesToLive(part, governed);
    const frozen = docsOfUsers(part, governed.restrictions.keys());
    for (let doc = 0; doc < part.docCount; doc++) {
      if (doc % SLICE_DOCS === SLICE_DOCS - 1) yield;
      const ordinal = part.ordinals[doc]!;
      const expiresMs = own?.[doc] ?? Number.NaN;
      const endMs = Math.min(
        Number.isNaN(expiresMs) ? Number.POSITIVE_INFINITY : expiresMs,
        part.createdAtMs[doc]! + ttlMs[doc]!,
      );
      // A grain that was written since this began has no end here.
      if (!(endMs <= nowMs) || store.index.removed.get(ordinal)) continue;
      expired += 1;
      if (isHeld || frozen?.has(doc) === true) held += 1;
      else if (nowMs - endMs > DAY_MS) expiredOverDay += 1;
    }
    yield;
  }
  return { hasLimit, expired, expiredOverDay, held };
}

function hasTimeToLive(rules: Memory['governed']['rules']): boolean {
  return (
    rules['retention.default_ttl_days'] !== null ||
    Object.keys(rules['retention.by_namespace']).length > 0 ||
    Object.keys(rules['retention.by_type']).length > 0
  );
}
