// Pages of a partition's audit chain as readers see it. Erased persons appear by their proof.

import { defined } from '../../base/defined.ts';
import { EngineError } from '../../base/errors.ts';
import { AUDIT_COUNTED_MAX } from '../../base/limits.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import type { AuditFilter, AuditView } from '../../calls/trail.ts';
import { AUDIT_EVENTS, type AuditEntry, GENESIS } from '../../govern/trail/audit.ts';
import { decodeAuditBody } from '../../govern/trail/audit-codec.ts';
import { AnswerRoom } from '../../grain/api/answer-room.ts';
import type { Sequence } from '../../log/log.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { shownPerson } from '../../write/actor.ts';
import { inSlices } from '../housekeeping/slices.ts';

type Input = MemoryCalls['auditPage']['input'];
type Output = MemoryCalls['auditPage']['output'];

/**
 * At most `limit` entries of the chain by seq, newest or oldest first; `from[partition]` is the first allowed seq. An
 * unreadable record is skipped; a verification lists it. AUT-E001 for a caller bound to a namespace, since entries have
 * none. A caller bound to a user sees the entries about that user.
 */
export function auditPage(store: Store, memory: Memory, context: CallContext, input: Input): Promise<Output> {
  if (context.namespace !== undefined)
    throw new EngineError(
      'AUT-E001',
      'audit entries have no namespace, so a caller bound to a namespace cannot list them',
    );
  const filter = context.userId === undefined ? input.filter : { ...input.filter, within: context.userId };
  return inSlices(page(store, memory, context.partition, { ...input, filter }));
}

/** A filter with the binding of its caller. */
type Bound = AuditFilter & { readonly within?: string };

function* page(
  store: Store,
  memory: Memory,
  partition: number,
  { filter, limit, order, from, offset = 0, bytesMax, uncounted }: Omit<Input, 'filter'> & { readonly filter: Bound },
): Generator<void, Output, void> {
  const chain = new Chain(store, memory.number);
  const matches = matcher(store, memory, filter);
  const names = new Map<string, string>();
  const name = (stored: string): string => {
    const known = names.get(stored) ?? shownPerson(store, memory, stored);
    names.set(stored, known);
    return known;
  };
  const step = order === 'asc' ? 1 : -1;
  const first = from?.[partition];
  const entries: AuditView[] = [];
  const room = new AnswerRoom(bytesMax);
  let passed = 0;
  let next: number | undefined;
  // A page continues from a seq; without one it begins at an end of the chain.
  let at = first === undefined ? (order === 'asc' ? 0 : chain.length - 1) : chain.recordOf(first);
  for (; next === undefined && at >= 0 && at < chain.length; at += step) {
    const record = chain.entries(at);
    for (let i = step === 1 ? 0 : record.length - 1; i >= 0 && i < record.length; i += step) {
      const entry = record[i]!;
      if (first !== undefined && (entry.seq - first) * step < 0) continue;
      if (!matches(entry)) continue;
      if (passed < offset) {
        passed += 1;
        continue;
      }
      const previous = record[i - 1]?.hash ?? chain.hashBefore(at);
      const shown = entries.length < limit ? view(entry, { store, memory, partition, previous, name }) : undefined;
      if (shown === undefined || !room.takes(shown)) {
        next = entry.seq;
        break;
      }
      entries.push(shown);
    }
    yield;
  }
  const total = uncounted === true ? null : yield* count(store, chain, memory.number, { matches, filter });
  return defined({ entries, total, next: next === undefined ? undefined : [next] });
}

/** The number of matching entries; null when counting would read more entries than a page is worth. */
function* count(
  store: Store,
  chain: Chain,
  memory: number,
  { matches, filter }: { readonly matches: (entry: AuditEntry) => boolean; readonly filter: Bound },
): Generator<void, number | null, void> {
  const { seq } = store.auditHead(memory);
  if (Object.keys(filter).length === 0) return seq;
  if (seq > AUDIT_COUNTED_MAX) return null;
  let total = 0;
  for (let at = 0; at < chain.length; at++) {
    for (const entry of chain.entries(at)) if (matches(entry)) total += 1;
    yield;
  }
  return total;
}

/** The records of a chain, oldest first. The last ones read are cached, because a walk asks for neighbours. */
class Chain {
  readonly #store: Store;
  readonly #sequences: readonly Sequence[];
  readonly #kept = new Map<number, readonly AuditEntry[]>();

  constructor(store: Store, memory: number) {
    this.#store = store;
    this.#sequences = store.allKeyed(memory, 'audit');
  }

  get length(): number {
    return this.#sequences.length;
  }

  /** Empty when the record cannot be read. */
  entries(at: number): readonly AuditEntry[] {
    const known = this.#kept.get(at);
    if (known !== undefined) return known;
    const entries = this.#read(at);
    if (this.#kept.size >= 2) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(at, entries);
    return entries;
  }

  #read(at: number): readonly AuditEntry[] {
    try {
      const bytes = this.#store.log.read(this.#sequences[at]!);
      const record = bytes === undefined ? undefined : decodeRecord(bytes);
      return record?.kind === 'audit' ? decodeAuditBody(record.body) : [];
    } catch {
      return [];
    }
  }

  hashBefore(at: number): string {
    return at === 0 ? GENESIS.hash : (this.entries(at - 1).at(-1)?.hash ?? '');
  }

  /** The last record whose first entry is not after `seq`; 0 when there is none. */
  recordOf(seq: number): number {
    let low = 0;
    let high = this.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.entries(middle)[0]?.seq ?? 0) <= seq) low = middle;
      else high = middle - 1;
    }
    // A record that cannot be read may have led beyond it.
    while (low > 0 && (this.entries(low)[0]?.seq ?? Number.POSITIVE_INFINITY) > seq) low -= 1;
    return low;
  }
}

function view(
  entry: AuditEntry,
  {
    store,
    memory,
    partition,
    previous,
    name,
  }: { store: Store; memory: Memory; partition: number; previous: string; name: (stored: string) => string },
): AuditView {
  const details = JSON.parse(entry.details) as AuditView['details']; // canonical JSON of a flat object
  const grain = shownHash(store, memory, details);
  return defined({
    partition,
    seq: entry.seq,
    timestamp: entry.timestamp,
    eventType: entry.event,
    actor: name(entry.actor),
    subject: name(entry.subject),
    grainHash: grain,
    details,
    prevHash: previous,
    hash: entry.hash,
  });
}

/** The hash of the grain that an entry names, while it is here. Entries of older builds contain the hash anyway. */
function shownHash(store: Store, memory: Memory, { grain, hash }: AuditView['details']): string | undefined {
  if (typeof grain === 'string') return store.hashOfName(memory, grain);
  return typeof hash === 'string' ? hash : undefined;
}

function matcher(store: Store, memory: Memory, filter: Bound): (entry: AuditEntry) => boolean {
  const { user, actor, grainHash, grainNames = [], events, since, until, within } = filter;
  const wanted = events === undefined ? undefined : eventsOf(events);
  const person = user === undefined ? undefined : `user:${memory.userToken(user)}`;
  const bound = within === undefined ? undefined : `user:${memory.userToken(within)}`;
  const acting = actor?.startsWith('user:') === true ? `user:${memory.userToken(actor.slice(5))}` : actor;
  const isOfGrain = grainHash === undefined ? undefined : grainMatcher(store, memory, grainHash, grainNames);
  return (entry) =>
    (wanted === undefined || wanted.has(entry.event)) &&
    (person === undefined || entry.subject === person || entry.actor === person) &&
    (bound === undefined || entry.subject === bound || entry.actor === bound) &&
    (acting === undefined || entry.actor === acting || entry.actor === actor) &&
    (since === undefined || entry.timestamp >= since) &&
    (until === undefined || entry.timestamp <= until) &&
    (isOfGrain === undefined || isOfGrain(entry.details));
}

/**
 * Matches entries whose details name the grain with that hash. For a grain that is not here nothing matches, whatever
 * keys are left. Otherwise a reader of the trail could test guesses of a grain's text. Older builds wrote the hash
 * itself.
 */
function grainMatcher(
  store: Store,
  memory: Memory,
  hash: string,
  elsewhere: readonly string[],
): (details: string) => boolean {
  const wanted = [hash, store.nameOfHash(memory, hash), ...elsewhere].filter((called) => called !== undefined);
  return (details) => wanted.some((called) => details.includes(`"${called}"`));
}

/** Event types by name, or by a prefix such as `memory.*`. */
function eventsOf(wanted: readonly string[]): ReadonlySet<string> {
  const named = Object.keys(AUDIT_EVENTS);
  return new Set(
    wanted.flatMap((one) => (one.endsWith('*') ? named.filter((name) => name.startsWith(one.slice(0, -1))) : [one])),
  );
}
