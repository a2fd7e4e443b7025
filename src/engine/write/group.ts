// A group: requests that share one append. Grants of its earlier requests are laid over the committed state, so that a
// later request of the group plans as if they had been written. Nothing of it is visible to readers, or kept, until the
// append has returned and `publish` runs.
import { assert } from '../base/assert.ts';
import { ERASED_REMEMBERED_EACH } from '../base/limits.ts';
import type { AuditDraft } from '../govern/trail/audit.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Append, Sequence } from '../log/log.ts';
import type { EngineRecord, RemovalCause, VerificationState } from '../record/record.ts';
import { encodeRecord } from '../record/record-codec.ts';
import { actionNumbers, isFailure, isSuccess } from '../store/action-numbers.ts';
import type { Memory } from '../store/memory.ts';
import { NEXT_KEY_STATE, purgeState } from '../store/state-names.ts';
import type { Store } from '../store/store.ts';
import type { StoredGrain } from '../store/stored-grain.ts';
import { closeActs } from './agent-acts.ts';
import { AuditDrafts } from './audit-drafts.ts';
import { noteDepth } from './chain-depth.ts';
import { KeyedGrains, PlannedGrain } from './keyed-grains.ts';
import { keyNamed } from './named-key.ts';
import { Overlay } from './overlay.ts';
import type { PreparedGrain } from './prepare.ts';
import { auditActor } from './pseudonym.ts';
import { writeSetting } from './setting-record.ts';

/** Value of a state entry whose key says everything. */
const NOTED = Uint8Array.of(1);

/** The requests that share one append: their records, and the changes that become visible with them. */
export class Group {
  readonly nowMs: number;
  readonly store: Store;
  readonly #first: Sequence;
  readonly #records: Buffer[] = [];
  readonly #replacements: [Sequence, Buffer][] = [];
  readonly #removals: Sequence[] = [];
  readonly #state: [string, Uint8Array | null][] = [];
  readonly #overlays = new Map<Memory, Overlay>();
  /** Changes to make visible, in log order: a grain, or a step. */
  readonly #publish: (PlannedGrain | (() => void))[] = [];
  readonly #destroyKeys: number[] = [];
  readonly #newMemoryAudit = new Map<number, AuditDrafts>();
  #newKeys = false;
  /** The slots of keys that the append writes, where the log keeps them. */
  #keySlots: Append['keySlots'];
  #bytes = 0;

  constructor(store: Store) {
    this.store = store;
    this.nowMs = store.clock.nowMs();
    this.#first = store.log.nextSequence;
  }

  get isEmpty(): boolean {
    return this.changes === 0 && this.#overlays.size === 0 && this.#newMemoryAudit.size === 0;
  }

  /** The number of records, state entries and removed values so far. */
  get changes(): number {
    return this.#records.length + this.#replacements.length + this.#removals.length + this.#state.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * True once the group has granted anything of this memory. Writes that search broadly must then wait for the next
   * group.
   */
  touches(memory: Memory): boolean {
    return this.#overlays.has(memory);
  }

  /** The changes that this group makes to the memory. Creates an overlay if there is none. */
  overlay(memory: Memory): Overlay {
    let overlay = this.#overlays.get(memory);
    if (overlay === undefined) {
      overlay = new Overlay();
      this.#overlays.set(memory, overlay);
    }
    return overlay;
  }

  /** The overlay, if there is one. Reading must not create one. */
  peek(memory: Memory): Overlay | undefined {
    return this.#overlays.get(memory);
  }

  isSuperseded(memory: Memory, ordinal: Ordinal): boolean {
    return this.store.index.superseded.get(ordinal) || this.peek(memory)?.supersededBy.has(ordinal) === true;
  }

  /** The ordinal of the grain with that address, planned in this group or committed. */
  findOrdinal(memory: Memory, address: string): Ordinal | undefined {
    return this.peek(memory)?.withAddress(address)?.ordinal ?? this.store.findOrdinal(memory.number, address);
  }

  /** The name of the grain with that address; undefined when it is not here. */
  nameOf(memory: Memory, address: string): string | undefined {
    return this.peek(memory)?.withAddress(address)?.name ?? this.store.nameOfHash(memory, address);
  }

  /** The grain at an ordinal, planned in this group or committed. */
  read(
    memory: Memory,
    ordinal: Ordinal,
  ): Pick<StoredGrain, 'ordinal' | 'address' | 'name' | 'blob' | 'grain'> | undefined {
    const planned = this.peek(memory)?.at(ordinal);
    if (planned === undefined) return this.store.readGrain(memory, ordinal);
    const { address, blob, grain } = planned.prepared;
    return { ordinal, address, name: planned.name, blob, grain: { ...grain, header: EMPTY_HEADER } };
  }

  /** The version that replaced the one at `ordinal`. */
  next(memory: Memory, ordinal: Ordinal): Ordinal | undefined {
    return (
      this.peek(memory)?.supersededBy.get(ordinal)?.ordinal ??
      this.store.status.supersession(memory.number, ordinal)?.newOrdinal
    );
  }

  /** The newest version of the chain of `ordinal`. */
  tip(memory: Memory, ordinal: Ordinal): Ordinal {
    for (let at = ordinal; ; ) {
      const next = this.next(memory, at);
      if (next === undefined) return at;
      at = next;
    }
  }

  /** Adds a record and returns its sequence number. */
  record(record: EngineRecord): Sequence {
    return this.#push(encodeRecord(record));
  }

  #push(bytes: Buffer): Sequence {
    this.#records.push(bytes);
    this.#bytes += bytes.length;
    return this.#first + this.#records.length - 1;
  }

  /**
   * Grants a new grain. It is sealed under its user's key (created now if there is none) or the memory's, and its
   * scope's.
   */
  addGrain(memory: Memory, prepared: PreparedGrain): PlannedGrain {
    const overlay = this.overlay(memory);
    const { indexed, userId } = prepared;
    const under =
      overlay.keyedGrains(userId, indexed.namespace) ?? this.#startKeyed(memory, overlay, userId, indexed.namespace);
    const record = under.recordOf(prepared);
    const planned = new PlannedGrain(this.#push(record), prepared, under);
    under.add(planned, record);
    indexed.ordinal = planned.ordinal;
    overlay.addGrain(planned);
    this.#publish.push(planned);
    if (prepared.verification !== '') this.setVerification(memory, planned.ordinal, prepared.verification);
    if (prepared.by !== undefined) overlay.actsOf(prepared.by).addGrain(planned.ordinal, indexed.numbers.outcome);
    return planned;
  }

  #startKeyed(memory: Memory, overlay: Overlay, userId: string | undefined, namespace: string): KeyedGrains {
    const key = userId === undefined ? memory.keyIds.blob : this.keyOfUser(memory, userId);
    const grains = new KeyedGrains(memory, key, this.keyOfScope(memory, namespace), userId !== undefined);
    return overlay.startKeyed(userId, namespace, grains);
  }

  #publishGrain({ prepared, under: { memory } }: PlannedGrain): void {
    this.store.index.publish(memory.number, prepared.indexed);
    this.store.vectorsBehind.add(memory.number);
    this.store.vectorsFresh.add(memory.number);
  }

  /** A new version of an action that came to the same is no further action. */
  #discountVersion(memory: Memory, oldOrdinal: Ordinal, { ordinal, prepared }: PlannedGrain): void {
    const changes = prepared.by === undefined ? undefined : this.peek(memory)?.acts.get(prepared.by.token)?.changes;
    const at = changes?.findLastIndex((change) => change.ordinal === ordinal) ?? -1;
    const old = at < 0 ? undefined : this.read(memory, oldOrdinal)?.grain;
    const before = old === undefined ? undefined : actionNumbers(memory, old).outcome;
    const { outcome } = prepared.indexed.numbers;
    if (before === undefined || outcome === undefined) return;
    if (isSuccess(before) === isSuccess(outcome) && isFailure(before) === isFailure(outcome)) changes?.splice(at, 1);
  }

  /** Links two versions: `oldOrdinal` stops being current. */
  supersede(memory: Memory, oldOrdinal: Ordinal, planned: PlannedGrain): void {
    this.#link(memory, oldOrdinal, planned.ordinal, { name: planned.name, atMs: this.nowMs });
    this.#discountVersion(memory, oldOrdinal, planned);
    noteDepth(this, memory, oldOrdinal, planned);
  }

  /** Links two existing grains, as an import's manifest demands. `sinceMs` is not in the future. */
  link(memory: Memory, oldOrdinal: Ordinal, newOrdinal: Ordinal, sinceMs = this.nowMs): void {
    const name = this.read(memory, newOrdinal)?.name;
    const atMs = Math.max(0, Math.min(sinceMs, this.nowMs));
    if (name !== undefined) this.#link(memory, oldOrdinal, newOrdinal, { name, atMs });
  }

  #link(
    memory: Memory,
    oldOrdinal: Ordinal,
    ordinal: Ordinal,
    { name, atMs }: { readonly name: string; readonly atMs: number },
  ): void {
    const sequence = this.record({
      kind: 'status',
      memory: memory.number,
      oldOrdinal,
      newOrdinal: ordinal,
      atMs,
      verification: '',
      newName: name,
    });
    const overlay = this.overlay(memory);
    overlay.supersededBy.set(oldOrdinal, { ordinal });
    overlay.predecessorOf.set(ordinal, oldOrdinal);
    this.#publish.push(() => {
      // Read only now, because a rebuild may have replaced the index.
      const { index } = this.store;
      index.publishKeyed(memory.number, 'status', oldOrdinal, sequence);
      index.publishKeyed(memory.number, 'predecessor', ordinal, sequence);
      index.markSuperseded(oldOrdinal);
    });
  }

  setVerification(memory: Memory, ordinal: Ordinal, verification: VerificationState): void {
    const sequence = this.record({
      kind: 'status',
      memory: memory.number,
      oldOrdinal: ordinal,
      newOrdinal: 0,
      atMs: this.nowMs,
      verification,
      newName: '',
    });
    this.#publish.push(() => {
      const { index } = this.store;
      index.publishKeyed(memory.number, 'status', ordinal, sequence);
      if (verification !== '') index.markVerification(ordinal, verification);
    });
  }

  /** Further sources of the grain at `ordinal`, committed ones and those of this group. */
  furtherSources(
    memory: Memory,
    ordinal: Ordinal,
  ): { readonly sequence?: Sequence | undefined; readonly name: string }[] {
    const overlay = this.peek(memory);
    const committed = this.store.status.furtherSources(memory.number, ordinal);
    const planned = overlay?.furtherSources.get(ordinal) ?? [];
    return [
      ...committed.filter(({ sequence }) => overlay?.droppedSources.has(sequence) !== true),
      ...planned.map((name) => ({ name })),
    ];
  }

  /** Adds a source to the known grain at `ordinal`. */
  addFurtherSource(memory: Memory, ordinal: Ordinal, name: string): void {
    const sequence = this.record({
      kind: 'furtherSource',
      memory: memory.number,
      ordinal,
      atMs: this.nowMs,
      name,
    });
    const { furtherSources } = this.overlay(memory);
    furtherSources.set(ordinal, [...(furtherSources.get(ordinal) ?? []), name]);
    this.#publish.push(() => this.store.index.publishKeyed(memory.number, 'furtherSource', ordinal, sequence));
  }

  /** Removes records of further sources: their values now, their index entries with the next merge. */
  dropFurtherSources(memory: Memory, sequences: readonly Sequence[]): void {
    const { droppedSources } = this.overlay(memory);
    for (const sequence of sequences) {
      droppedSources.add(sequence);
      this.#removals.push(sequence);
    }
    this.#publish.push(() => {
      for (const sequence of sequences) this.store.index.markRemoved(memory.number, sequence);
    });
  }

  /** Removes grains. Their values are deleted in the same transaction. */
  remove(memory: Memory, ordinals: readonly Ordinal[], cause: RemovalCause): void {
    this.overlay(memory);
    this.record({ kind: 'removal', memory: memory.number, cause, ordinals: Uint32Array.from(ordinals) });
    const sources: Sequence[] = [];
    for (const ordinal of ordinals) {
      this.#removals.push(ordinal);
      for (const { sequence } of this.store.status.furtherSources(memory.number, ordinal)) sources.push(sequence);
    }
    if (sources.length > 0) this.dropFurtherSources(memory, sources);
    // Computed now: without their keys it would be impossible.
    const erased =
      cause === 'erased' ? ordinals.slice(-ERASED_REMEMBERED_EACH).map((at) => this.store.addressAt(at)) : [];
    this.#publish.push(() => {
      for (const address of erased) if (address !== undefined) this.store.erased.add(memory.number, address);
      const { index, opened } = this.store;
      for (const ordinal of ordinals) opened.delete(ordinal);
      for (const ordinal of ordinals)
        if (cause === 'erased') index.markErased(memory.number, ordinal);
        else index.markRemoved(memory.number, ordinal);
      this.store.vectors.remove(memory.number, ordinals);
    });
  }

  /** Replaces a record with the same grain, sealed again. */
  replace(memory: Memory, sequence: Sequence, record: EngineRecord): void {
    this.overlay(memory);
    const bytes = encodeRecord(record);
    this.#replacements.push([sequence, bytes]);
    this.#bytes += bytes.length;
  }

  /** Deletes values of records that nothing refers to any more. */
  removeValues(sequences: readonly Sequence[]): void {
    for (const sequence of sequences) this.#removals.push(sequence);
  }

  /** Adds an entry to the memory's chain. `follow` gets its hash when the group is closed, and may then add records. */
  audit(memory: Memory, draft: AuditDraft, follow?: (entryHash: string) => void): void {
    const actor = auditActor(memory, draft.actor);
    this.overlay(memory).audit.add(actor === draft.actor && follow === undefined ? draft : { ...draft, actor, follow });
  }

  /**
   * Like `audit`, for the memory's first entry in this group, such as that of a settled write. Its hash is known at
   * once, so that the write's own records and answer can name it.
   */
  auditFirst(memory: Memory, draft: AuditDraft): string {
    const { audit } = this.overlay(memory);
    assert(audit.isEmpty, 'this entry directly follows the committed chain');
    this.audit(memory, draft);
    return audit.headAfter(this.store.auditHead(memory.number), this.nowMs);
  }

  /** For a memory that this group creates: it cannot be opened yet. */
  auditLater(number: number, draft: AuditDraft): void {
    let drafts = this.#newMemoryAudit.get(number);
    if (drafts === undefined) {
      drafts = new AuditDrafts();
      this.#newMemoryAudit.set(number, drafts);
    }
    drafts.add(draft);
  }

  /**
   * Draws a new index key for the memory. Its blocks are rewritten in the background, and then the old key is
   * destroyed.
   */
  renewIndexKey(memory: Memory): void {
    const { id } = this.store.keys.allocate('index');
    this.#newKeys = true;
    const old = memory.keyIds;
    const renewed = { ...old, index: id };
    writeSetting(this, memory.number, renewed, memory.sealedSettings, true);
    this.setState(purgeState(memory.number, old.index), NOTED);
    const upTo = this.#first + this.#records.length - 1;
    this.#publish.push(() => {
      memory.keyIds = renewed;
      this.store.purgePending.set(memory.number, upTo);
    });
  }

  setState(key: string, value: Uint8Array | null): void {
    this.#state.push([key, value]);
  }

  /** Notes that the key store allocated a key, which must be flushed before the append. */
  keyAllocated(): void {
    this.#newKeys = true;
  }

  /** Registers a key to be destroyed after the append and before any answer. */
  destroyKey(key: number): void {
    this.#destroyKeys.push(key);
  }

  onPublish(step: () => void): void {
    this.#publish.push(step);
  }

  /** The id of the user's key, created with this group if the user has none. */
  keyOfUser(memory: Memory, userId: string): number {
    return keyNamed(this, memory, 'user', userId);
  }

  /** The id of the scope's key, created like a user's key; 0 for an imported grain without a namespace. */
  keyOfScope(memory: Memory, namespace: string): number {
    return namespace === '' ? 0 : keyNamed(this, memory, 'scope', namespace);
  }

  /** Names the granted grains, and seals their blobs. */
  #seal(): void {
    for (const { keyed } of this.#overlays.values())
      for (const ofUser of keyed.values()) for (const grains of ofUser.values()) grains.close();
  }

  /** Closes the group: seals its blobs, adds the audit records and makes new keys durable. Returns the append. */
  finish(): Append {
    this.#seal();
    for (const [memory, { acts, droppedAgents }] of this.#overlays)
      for (const [token, done] of acts) if (!droppedAgents.has(token)) closeActs(this, memory, done);
    for (const [memory, overlay] of this.#overlays) overlay.audit.close(this, memory.number);
    for (const [number, drafts] of this.#newMemoryAudit) drafts.close(this, number);
    if (this.#newKeys) {
      // Another owner of the folder may have used the same slots for its own keys.
      this.store.log.checkOwner?.();
      this.store.keys.flush();
      // If an older copy of the keys is restored, ids that the log names must not be given again.
      const next = Buffer.alloc(4);
      next.writeUInt32BE(this.store.keys.nextId);
      this.#state.push([NEXT_KEY_STATE, next]);
    }
    this.#keySlots = this.store.keys.slotsToAppend(this.#destroyKeys, this.nowMs);
    return {
      records: this.#records,
      replacements: this.#replacements,
      removals: this.#removals,
      state: this.#state,
      keySlots: this.#keySlots,
    };
  }

  /**
   * Abandons the group. Keys that it staged are gone and their ids may be given again, so derived keys are dropped too.
   */
  discard(): void {
    for (const memory of this.#overlays.keys()) memory.dropKeys();
  }

  /** Called after the append: destroys the registered keys, then makes everything visible in log order. */
  publish(): void {
    if (this.#destroyKeys.length > 0) this.store.keys.destroy(this.#destroyKeys, this.nowMs);
    if (this.#keySlots !== undefined) this.store.keys.slotsAppended(this.#keySlots);
    for (let i = 0; i < this.#publish.length; i++) {
      const step = this.#publish[i]!;
      if (step instanceof PlannedGrain) this.#publishGrain(step);
      else step();
    }
  }
}

/** Nothing reads the header of a planned grain. */
const EMPTY_HEADER = { version: 1, flags: 0, typeByte: 0, namespaceHash: 0, createdAtSeconds: 0 };
