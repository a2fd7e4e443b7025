// Shows one event to one reader. An audit entry names a grain by a name that only the grain's keys decipher, so the members
// of an event are read from the grain and the keys as they are now. An event shows nothing that was erased, and a reader
// gets no event about a grain that is hidden from it.
import { createHmac } from 'node:crypto';
import { defined } from '../../base/defined.ts';
import { EVENT_TEXT_BYTES_MAX } from '../../base/limits.ts';
import type { CallContext } from '../../calls/context.ts';
import type { EventView, Fork } from '../../calls/events.ts';
import { open, sealKey } from '../../crypto/envelope.ts';
import type { AccessView } from '../../govern/access/access.ts';
import { DEFAULT_PURPOSE } from '../../govern/consent/consent.ts';
import { egressAction } from '../../govern/policy/in-force.ts';
import type { AuditEntry } from '../../govern/trail/audit.ts';
import type { EventKind } from '../../govern/trail/event-kinds.ts';
import type { Sequence } from '../../log/log.ts';
import { parseName } from '../../record/grain-name.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import { isErased } from '../../store/gone.ts';
import type { Memory } from '../../store/memory.ts';
import { refuseRead } from '../../store/readable.ts';
import type { Store } from '../../store/store.ts';
import type { StoredGrain } from '../../store/stored-grain.ts';
import { type Binding, bindingOf, isBound, isViewed, isWithin } from '../../store/within.ts';
import { pseudonym } from '../../write/pseudonym.ts';

/** An event before its reader is known. */
export interface EventOf {
  readonly sequence: number;
  readonly kind: EventKind;
  readonly atMs: number;
  readonly entry: AuditEntry;
  /** The record that holds it. */
  readonly record: Sequence;
}

/** Kinds about one grain. Readers that may read the grain get them. */
const OF_GRAIN: ReadonlySet<EventKind> = new Set([
  'grain_created',
  'grain_superseded',
  'grain_forgotten',
  'auto_related',
  'goal_state_changed',
]);
/** Kinds about a person. Events about a hidden person are shown too, since they say that the person is hidden. */
const OF_PERSON: ReadonlySet<EventKind> = new Set([
  'consent_granted',
  'consent_revoked',
  'processing_restricted',
  'processing_unrestricted',
]);
/** Details that an event shows: codes and counts. Names and keyed texts stay in the trail. */
const DETAILS_SHOWN: ReadonlySet<string> = new Set([
  ...['version', 'presets', 'seal_hash', 'run_id', 'regulation', 'total', 'pass', 'fail', 'warn', 'skip'],
  ...['forgotten', 'redacted', 'imported', 'duplicates', 'errors', 'failed', 'job_id', 'related', 'from', 'to'],
  ...['goal_state', 'previous_state', 'verification_status'],
]);

type Members = { -readonly [M in keyof EventView]?: EventView[M] | undefined };

export class EventReader {
  readonly #store: Store;
  readonly #memory: Memory;
  readonly #context: CallContext;
  readonly #nowMs: number;
  readonly #showsPersonalData: boolean;
  #hidden: ReadonlySet<string> | undefined;
  /** The part of the memory that the reader may see. */
  readonly #binding: Binding;
  #viewed: ReadonlySet<number> | undefined;

  readonly #forks: readonly Fork[];

  constructor(store: Store, memory: Memory, context: CallContext, forks: readonly Fork[] = []) {
    this.#forks = forks;
    this.#store = store;
    this.#memory = memory;
    this.#context = context;
    this.#nowMs = store.clock.nowMs();
    this.#binding = bindingOf(memory, context);
    this.#showsPersonalData = egressAction(memory.governed.rules) === 'allow';
  }

  /** The event as the reader may see it; undefined when the reader must not learn of it. */
  view({ sequence, kind, atMs, entry, record }: EventOf): EventView | undefined {
    const details = JSON.parse(entry.details) as EventView['details']; // canonical JSON of a flat object
    const members = this.#membersOf(kind, entry, details);
    if (members === undefined) return undefined;
    const { count } = details;
    const epoch = this.#forks.findLast(({ lastRecord }) => record > lastRecord)?.epoch;
    return {
      sequence,
      id: this.#idOf(sequence, epoch),
      ...defined({ epoch }),
      kind,
      timestampMs: atMs,
      ...defined(members),
      ...defined({ count: typeof count === 'number' ? count : undefined }),
      details: Object.fromEntries(Object.entries(details).filter(([name]) => DETAILS_SHOWN.has(name))),
    };
  }

  #idOf(sequence: number, epoch: string | undefined): string {
    const number = `${this.#memory.number}/${this.#context.partition}/${sequence}`;
    const of = epoch === undefined ? number : `${number}/${epoch}`;
    return createHmac('sha256', this.#memory.identityKey).update(`event:${of}`).digest('hex').slice(0, 32);
  }

  #membersOf(kind: EventKind, entry: AuditEntry, details: EventView['details']): Members | undefined {
    if (OF_GRAIN.has(kind)) return this.#grainMembers(entry, details);
    if (OF_PERSON.has(kind)) return this.#personMembers(entry, details);
    if (kind === 'crypto_erase') return this.#erasureMembers(entry, details);
    return this.isPartial ? undefined : { ...fingerprintOf(details) };
  }

  /** True when the reader may see only a part of the memory. */
  get isPartial(): boolean {
    return isBound(this.#binding);
  }

  #grainMembers(entry: AuditEntry, details: EventView['details']): Members | undefined {
    const { grain: name, old_grain: old, grain_type: type } = details;
    if (typeof name !== 'string') return this.isPartial ? undefined : {};
    const grainType = typeof type === 'string' ? type : undefined;
    const hash = this.#memory.trail.addressNamed(name);
    const stored = this.#grainNamed(name, hash);
    if (stored === undefined) {
      if (!this.#mayHearOfGone(entry, name)) return undefined;
      return { hash: this.#toldOfGone(hash), grainType, oldHash: this.#hashOf(old) };
    }
    if (!isWithin(this.#context, stored.grain)) return undefined;
    if (refuseRead(this.#memory, this.#context, stored.grain, this.#nowMs) !== undefined) return undefined;
    return { hash, oldHash: this.#hashOf(old), grainType: stored.grain.type, ...this.#contentOf(stored) };
  }

  /** Members that are read from a grain, without personal data where the policy keeps them back. */
  #contentOf({ grain: { fields } }: StoredGrain): Members {
    const { namespace, subject, relation, object, user_id: userId } = fields;
    const members: Members = { namespace: textOf(namespace) };
    if (!this.#showsPersonalData) return members;
    members.userId = textOf(userId);
    const omitted: string[] = [];
    for (const [member, value] of Object.entries({ subject, relation, object })) {
      const text = textOf(value);
      if (text !== undefined && Buffer.byteLength(text) > EVENT_TEXT_BYTES_MAX) omitted.push(member);
      else members[member as 'subject' | 'relation' | 'object'] = text;
    }
    if (omitted.length > 0) members.omitted = omitted;
    return members;
  }

  /** The grain with that name, while it is here. */
  #grainNamed(name: string, hash: string | undefined): StoredGrain | undefined {
    const ordinal = hash === undefined ? undefined : this.#store.findOrdinal(this.#memory.number, hash);
    if (ordinal === undefined || this.#store.nameHint(ordinal) !== name) return undefined;
    return this.#store.readGrain(this.#memory, ordinal);
  }

  /** Of a further grain of an event, such as the version before. */
  #hashOf(name: unknown): string | undefined {
    const hash = typeof name === 'string' ? this.#memory.trail.addressNamed(name) : undefined;
    if (typeof name !== 'string' || hash === undefined) return undefined;
    const stored = this.#grainNamed(name, hash);
    if (stored !== undefined) return isWithin(this.#context, stored.grain) ? hash : undefined;
    return this.#isOwn(name) ? this.#toldOfGone(hash) : undefined;
  }

  /** The hash of a grain that is gone. That of an erased one could confirm a guess of what it said. */
  #toldOfGone(hash: string | undefined): string | undefined {
    if (hash === undefined || isErased(this.#store, this.#memory, hash)) return undefined;
    return hash;
  }

  #mayHearOfGone({ subject }: AuditEntry, name: string): boolean {
    return !this.#hiddenPeople.has(subject) && this.#isOwn(name);
  }

  /** A grain that is gone is judged by the keys in its name. An erased grain is outside every binding. */
  #isOwn(name: string): boolean {
    const { namespace, userId, view } = this.#binding;
    if (!this.isPartial) return true;
    const keys = parseName(name)?.keys;
    if (keys === undefined) return false;
    const isLive = (key: { readonly key: number; readonly live: boolean } | undefined, id: number): boolean =>
      key?.live === true && key.key === id;
    if (userId !== undefined && !isLive(this.#store.namedKeys.user(this.#memory, userId), keys.user)) return false;
    if (view !== undefined && !this.#viewedScopes(view).has(keys.scope)) return false;
    return namespace === undefined || isLive(this.#store.namedKeys.scope(this.#memory, namespace), keys.scope);
  }

  /** The live scope keys of the namespaces that the reader may view. */
  #viewedScopes(view: AccessView): ReadonlySet<number> {
    if (this.#viewed !== undefined) return this.#viewed;
    const keys = new Set<number>();
    for (const part of this.#store.parts(this.#memory.number))
      for (const [namespace] of part.facetValues('namespace')) {
        const scope = view.has(namespace) ? this.#store.namedKeys.scope(this.#memory, namespace) : undefined;
        if (scope?.live === true) keys.add(scope.key);
      }
    this.#viewed = keys;
    return keys;
  }

  /** Pseudonyms of the persons whose grains are hidden from this reader. */
  get #hiddenPeople(): ReadonlySet<string> {
    if (this.#hidden !== undefined) return this.#hidden;
    const { governed } = this.#memory;
    const { purpose = DEFAULT_PURPOSE } = this.#context;
    const hidden = new Set<string>();
    if (!governed.hidesNothing)
      for (const user of governed.restrictions.keys()) hidden.add(pseudonym(this.#memory, user));
    if (governed.rules['consent.on_read'])
      for (const user of governed.withdrawn(purpose, this.#nowMs).users) hidden.add(pseudonym(this.#memory, user));
    this.#hidden = hidden;
    return hidden;
  }

  #personMembers({ subject }: AuditEntry, { grain: name }: EventView['details']): Members | undefined {
    const { namespace, userId, view } = this.#binding;
    if (userId !== undefined && pseudonym(this.#memory, userId) !== subject) return undefined;
    const hash = this.#hashOf(name);
    const stored = typeof name === 'string' ? this.#grainNamed(name, hash) : undefined;
    const isPlaced = namespace !== undefined || view !== undefined;
    const isSeen = stored !== undefined && isWithin(this.#context, stored.grain) && isViewed({ view }, stored.grain);
    if (isPlaced && !isSeen) return undefined;
    const person = this.#showsPersonalData ? this.#nameOf(subject) : undefined;
    if (stored === undefined) return { userId: person };
    const isShown = refuseRead(this.#memory, this.#context, stored.grain, this.#nowMs) === undefined;
    const members: Members = isShown ? { hash, ...this.#contentOf(stored) } : {};
    return { ...members, grainType: stored.grain.type, userId: person };
  }

  /** A bound reader sees the erasure of its own user or namespace. */
  #erasureMembers({ subject }: AuditEntry, details: EventView['details']): Members | undefined {
    const { namespace, userId } = this.#context;
    const members = { ...fingerprintOf(details), ...removedOf(details) };
    if (!this.isPartial) return members;
    if (userId !== undefined)
      return namespace === undefined && pseudonym(this.#memory, userId) === subject ? members : undefined;
    if (namespace === undefined || this.#binding.view?.has(namespace) === false) return undefined;
    const isOwn = details['scope'] === this.#memory.scopeToken(namespace);
    return isOwn ? { ...members, scopePath: namespace } : undefined;
  }

  /** The name behind a pseudonym, sealed under the person's own key; undefined once that key is gone. */
  #nameOf(subject: string): string | undefined {
    const token = /^user:([0-9a-f]{32})$/.exec(subject)?.[1];
    const store = this.#store;
    const at = token === undefined ? undefined : store.newestKeyed(this.#memory.number, 'userKey', token);
    const bytes = at === undefined ? undefined : store.log.read(at);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    if (record?.kind !== 'key' || record.action !== 'made' || store.keys.state(record.key) !== 'live') return undefined;
    const key = store.keys.get(record.key);
    const name = open(sealKey(key), record.sealedName, Buffer.from(`key-name:${record.key}`));
    key.fill(0);
    return name.toString('utf8');
  }
}

function fingerprintOf({ key_fingerprint: fingerprint }: EventView['details']): Members {
  return typeof fingerprint === 'string' ? { keyFingerprint: fingerprint } : {};
}

function removedOf({ removed }: EventView['details']): Members {
  return typeof removed === 'number' ? { count: removed } : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
