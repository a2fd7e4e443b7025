// Reads recall records back: a page of them, one, sums over them.

import { defined } from '../../base/defined.ts';
import { EngineError } from '../../base/errors.ts';
import { RECALL_RECORDS_COUNTED_MAX } from '../../base/limits.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import type { RecallRecordView, RecallSummary, RecordFilter } from '../../calls/trail.ts';
import { open } from '../../crypto/envelope.ts';
import {
  BOUND_NAMESPACE,
  BOUND_USER,
  type KeptNames,
  type KeptRecall,
  type ShownGrain,
  shownRecall,
} from '../../govern/trail/provenance.ts';
import { decodeNames, decodeRecall } from '../../govern/trail/provenance-codec.ts';
import { recallIds } from '../../govern/trail/recall-ids.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';
import { CorruptRecord, type Sequence } from '../../log/log.ts';
import { isPlainHash, parseName } from '../../record/grain-name.ts';
import { type RecallRecord, recallKey } from '../../record/record.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { isBound, isWithin } from '../../store/within.ts';
import { shownPerson } from '../../write/actor.ts';

type Page = MemoryCalls['recallRecords'];
type Totals = MemoryCalls['recallTotals'];
/** A caller's binding narrows every read of records. */
type Bound = RecordFilter & {
  readonly within?: { readonly namespace?: string | undefined; readonly userId?: string | undefined };
};

interface Opened {
  readonly record: RecallRecord;
  readonly kept: KeptRecall;
  /** Undefined when the record has no names, or has lost them. */
  readonly names: KeptNames | undefined;
}

/** Records in the order of their writing. The place of a record is its sequence number. */
export function* recallRecords(
  store: Store,
  memory: Memory,
  context: CallContext,
  { filter, limit, order, from, offset = 0 }: Page['input'],
): Generator<void, Page['output'], void> {
  const sequences = recordsOf(store, memory);
  const bound = within(context, filter);
  const sight = sightOf(store, memory, context);
  const step = order === 'asc' ? 1 : -1;
  const records: RecallSummary[] = [];
  const isPlain = Object.keys(bound).length === 0;
  let next: Sequence | undefined;
  let passed = 0;
  let total = 0;
  let looked = 0;
  for (let at = step === 1 ? 0 : sequences.length - 1; at >= 0 && at < sequences.length; at += step) {
    const sequence = sequences[at]!;
    const isBefore = from !== undefined && (sequence - from) * step < 0;
    if (next !== undefined && (isPlain || looked >= RECALL_RECORDS_COUNTED_MAX)) break;
    if (isBefore && isPlain) continue;
    looked += 1;
    const opened = openedAt(store, memory, sequence, bound);
    yield;
    if (opened === undefined) continue;
    total += 1;
    if (isBefore || next !== undefined) continue;
    if (passed < offset) passed += 1;
    else if (records.length === limit) next = sequence;
    else records.push(summary(store, memory, opened, sight));
  }
  return defined({
    records,
    total: isPlain ? sequences.length : looked >= RECALL_RECORDS_COUNTED_MAX ? null : total,
    next,
  });
}

/** PRV-E001 for a record that does not exist or is outside the caller's binding. */
export function recallRecord(
  store: Store,
  memory: Memory,
  context: CallContext,
  wanted: string,
): MemoryCalls['recallRecord']['output'] {
  for (const part of store.parts(memory.number).toReversed())
    for (const sequence of part.keyed('recall', recallKey(wanted)).toReversed()) {
      const opened = openedAt(store, memory, sequence, within(context, {}));
      if (opened?.record.id === wanted) return shown(store, memory, opened, sightOf(store, memory, context));
    }
  throw new EngineError('PRV-E001');
}

/** Sums over the records between two times. */
export function* recallTotals(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: Totals['input'],
): Generator<void, Totals['output'], void> {
  const byMode: Record<string, number> = {};
  const byExclusion: Record<string, number> = {};
  const sums = { totalRecords: 0, candidates: 0, results: 0, zeroResultCount: 0 };
  let [oldest, newest]: (number | undefined)[] = [];
  const bound = within(context, input);
  const sight = sightOf(store, memory, context);
  for (const sequence of recordsOf(store, memory)) {
    const opened = openedAt(store, memory, sequence, bound);
    yield;
    if (opened === undefined) continue;
    const { kept } = opened;
    const counts = countsOf(opened, sight);
    sums.totalRecords += 1;
    sums.candidates += counts.candidateCount;
    sums.results += counts.resultCount;
    if (counts.resultCount === 0) sums.zeroResultCount += 1;
    byMode[kept.mode] = (byMode[kept.mode] ?? 0) + 1;
    for (const [reason, count] of Object.entries(counts.excludedCounts))
      byExclusion[reason] = (byExclusion[reason] ?? 0) + count;
    oldest = Math.min(oldest ?? kept.timestamp, kept.timestamp);
    newest = Math.max(newest ?? kept.timestamp, kept.timestamp);
  }
  return defined({
    ...sums,
    byMode,
    byExclusion,
    oldest,
    newest,
  });
}

/**
 * The content of records, newest first, with the time of each. An unreadable record is left out, but is a step like the
 * others.
 */
export function* newestRecalls(
  store: Store,
  memory: Memory,
): Generator<{ readonly atMs: number; readonly kept: KeptRecall } | undefined, void, void> {
  for (const sequence of recordsOf(store, memory).reverse()) {
    const record = recordAt(store, sequence);
    yield record && { atMs: record.atMs, kept: decodeRecall(memory.openSmall(record.sealed, `recall:${record.id}`)) };
  }
}

/** The number of records. */
export function countRecalls(store: Store, memory: Memory): number {
  return recordsOf(store, memory).length;
}

function recordsOf(store: Store, memory: Memory): Sequence[] {
  return store.allKeyed(memory.number, 'recall').filter((sequence) => !store.index.removed.get(sequence));
}

/** Undefined for an unreadable record; health lists it. */
function recordAt(store: Store, sequence: Sequence): RecallRecord | undefined {
  try {
    const bytes = store.log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    return record?.kind === 'recall' ? record : undefined;
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error;
    store.quarantineRecord(sequence, error.message);
    return undefined;
  }
}

function within({ namespace, userId }: CallContext, filter: RecordFilter): Bound {
  if (namespace === undefined && userId === undefined) return filter;
  return {
    ...filter,
    within: { namespace, userId },
  };
}

/** The record, if it exists and passes `filter`. */
function openedAt(store: Store, memory: Memory, sequence: Sequence, filter: Bound): Opened | undefined {
  const record = recordAt(store, sequence);
  if (record === undefined) return undefined;
  const seconds = Math.floor(record.atMs / 1000);
  if ((filter.since ?? 0) > seconds || (filter.until ?? Number.POSITIVE_INFINITY) < seconds) return undefined;
  const kept = decodeRecall(memory.openSmall(record.sealed, `recall:${record.id}`));
  const names = namesOf(memory, record);
  const isOf = (one: { readonly namespace?: string | undefined; readonly userId?: string | undefined }): boolean =>
    (one.namespace === undefined || kept.namespace === one.namespace) &&
    (one.userId === undefined || names?.user_id === one.userId);
  return isOf(filter) && isOf(filter.within ?? {}) ? { record, kept, names } : undefined;
}

function namesOf(memory: Memory, { id, namesKey, sealedNames }: RecallRecord): KeptNames | undefined {
  if (sealedNames.length === 0) return undefined;
  const purpose = `recall-names:${id}`;
  try {
    return decodeNames(
      namesKey === 0
        ? memory.openSmall(sealedNames, purpose)
        : open(memory.grainKey(namesKey, 0), sealedNames, Buffer.from(purpose)),
    );
  } catch (error) {
    // The person concerned was erased.
    if (error instanceof EngineError && error.code === 'CRY-E002') return undefined;
    throw error;
  }
}

function summary(store: Store, memory: Memory, opened: Opened, sight: Sight | undefined): RecallSummary {
  const { record, kept } = opened;
  const { candidateCount, resultCount } = countsOf(opened, sight);
  return {
    recallId: record.id,
    timestamp: kept.timestamp,
    namespace: kept.namespace,
    queryMode: kept.mode,
    candidateCount,
    resultCount,
    principal: shownPerson(store, memory, kept.principal),
  };
}

function shown(store: Store, memory: Memory, opened: Opened, sight: Sight | undefined): RecallRecordView {
  const { record, kept, names } = opened;
  const whole = shownRecall({ ...kept, excludedCounts: countsOf(opened, sight).excludedCounts }, names);
  const isRedacted = record.restId !== '' && names === undefined;
  const seen = sight?.of(opened);
  const hashOf = (one: ShownGrain): string => {
    const hash = 'hash' in one ? one.hash : store.hashOfName(memory, one.grain);
    return hash !== undefined && (seen === undefined || sight?.shows(hash) === true) ? hash : '';
  };
  return {
    ...summary(store, memory, opened, sight),
    query: whole.query as JsonObject, // texts, flags and lists of texts
    results: whole.results.map((one) => ({ ...one, hash: hashOf(one) })),
    excluded: whole.excluded.map((one) => ({ ...one, hash: hashOf(one) })),
    excludedCounts: whole.excluded_counts,
    excludedTotal: whole.excluded_total,
    ...defined({ seen }),
    nonce: whole.nonce,
    requestId: whole.request_id,
    auditEntryHash: record.auditHash,
    verified: recallIds(kept, names).id === (isRedacted ? record.restId : record.id),
    redacted: isRedacted,
  };
}

/** No grain is sealed under it. */
const NO_KEY = -1;

type Counts = Pick<KeptRecall, 'candidateCount' | 'resultCount' | 'excludedCounts'>;

/** The counts of a record, for a bound caller without the grains outside its binding. */
function countsOf(opened: Opened, sight: Sight | undefined): Counts {
  const { kept } = opened;
  const { candidateCount, resultCount } = kept;
  switch (sight?.of(opened)) {
    case undefined:
      return kept;
    case 'whole':
      return { candidateCount, resultCount, excludedCounts: {} };
    case 'part': {
      const count = kept.results.grains.texts().filter((grain) => sight?.holds(grain)).length;
      return { candidateCount: count, resultCount: count, excludedCounts: {} };
    }
  }
}

/**
 * The part that a bound caller sees of records that concern its person or its namespace. Callers who see more may have made
 * them: these name grains that the caller must not learn of.
 */
class Sight {
  readonly #store: Store;
  readonly #memory: Memory;
  readonly #context: CallContext;
  /** Of the person and of the namespace: the ids of their live keys; absent where the caller is not bound so. */
  readonly #userKey: number | undefined;
  readonly #scopeKey: number | undefined;
  readonly #personToken: string | undefined;

  constructor(store: Store, memory: Memory, context: CallContext) {
    const { namespace, userId } = context;
    this.#store = store;
    this.#memory = memory;
    this.#context = context;
    this.#userKey = userId === undefined ? undefined : (store.namedKeys.user(memory, userId)?.key ?? NO_KEY);
    this.#scopeKey = namespace === undefined ? undefined : (store.namedKeys.scope(memory, namespace)?.key ?? NO_KEY);
    this.#personToken = userId === undefined ? undefined : memory.tokens.facet('entity', userId).toString('hex');
  }

  /**
   * Undefined for a record of a call with this binding, which is shown whole. `whole`: all candidates lie within the binding.
   * They may not (`part`) if the recall was about a name, which concerns the person of that name whoever has stored what it
   * found, or for a conversation, which shows what is about nobody too.
   */
  of({ kept: { mode, query }, names }: Opened): 'whole' | 'part' | undefined {
    const { namespace, userId } = this.#context;
    const isOwn =
      (namespace === undefined || query.options.includes(BOUND_NAMESPACE)) &&
      (userId === undefined || query.options.includes(BOUND_USER));
    if (isOwn) return undefined;
    if (mode === 'chat' || mode === 'harness' || query.options.includes('for_user')) return 'part';
    const token = this.#personToken;
    const isOfName = token !== undefined && [names?.entity, names?.subject, names?.object].includes(token);
    return isOfName ? 'part' : 'whole';
  }

  /** By the keys in its name, which cost nothing; false for a grain of another partition, whose keys are not known here. */
  holds(grain: string): boolean {
    if (isPlainHash(grain)) return this.shows(grain);
    const name = parseName(grain);
    if (name === undefined || name.partition !== undefined) return false;
    const isOf = (key: number, bound: number | undefined): boolean => bound === undefined || key === bound;
    return isOf(name.keys.user, this.#userKey) && isOf(name.keys.scope, this.#scopeKey);
  }

  /** True for the hash of a grain that is here, within the binding. */
  shows(hash: string): boolean {
    const ordinal = this.#store.findOrdinal(this.#memory.number, hash);
    const stored = ordinal === undefined ? undefined : this.#store.readGrain(this.#memory, ordinal);
    return stored !== undefined && isWithin(this.#context, stored.grain);
  }
}

/** Undefined for a caller that sees the whole memory. */
function sightOf(store: Store, memory: Memory, context: CallContext): Sight | undefined {
  return isBound(context) ? new Sight(store, memory, context) : undefined;
}
