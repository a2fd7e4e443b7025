// The control store: entities in memory, their records in the control log, changes in groups of one transaction.
import type { KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { assert } from '../../engine/base/assert.ts';
import type { Clock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { CONTROL_GROUP_MAX, CONTROL_PENDING_MAX, DRAIN_MS, FINDINGS_MAX } from '../../engine/base/limits.ts';
import { isSettledWithin } from '../../engine/base/settled-within.ts';
import { open, seal } from '../../engine/crypto/envelope.ts';
import { type AuditEntry, type AuditHead, checkChain, extendChain, GENESIS } from '../../engine/govern/trail/audit.ts';
import type { MasterKey } from '../../engine/keys/master-key.ts';
import { CorruptRecord, type Log, type Sequence } from '../../engine/log/log.ts';
import { type Change, Group, type Held, type Tables, type Watcher, type Watchers } from './group.ts';
import type { RecordKeys } from './record-keys.ts';
import {
  ENTITY_KINDS,
  type Entities,
  type EntityKind,
  entityId,
  hasOwnKey,
  RECORD_KINDS,
  UNDER_OWN_KEY,
} from './records.ts';

const AUDIT_HEAD = 'audit.head';
const MEMORY_NEXT = 'memory.next';

/** Additional data for sealing: a record of one kind does not open as another. */
const AADS = new Map(Object.keys(RECORD_KINDS).map((kind) => [kind, Buffer.from(`control ${kind}`, 'ascii')]));

function aadOf(kind: string): Buffer {
  const aad = AADS.get(kind);
  assert(aad !== undefined, 'every record kind has its context');
  return aad;
}

const KIND_NAMES = new Map(Object.entries(RECORD_KINDS).map(([kind, byte]) => [byte as number, kind]));
/** Records that a verification reads before it yields. */
const VERIFY_SLICE = 500;

/** An entity as it is after a committed group of changes; `value` is undefined when it was removed. */
export type CommittedChange = {
  [K in EntityKind]: { readonly kind: K; readonly id: string; readonly value: Entities[K] | undefined };
}[EntityKind];

export interface ControlFinding {
  readonly kind: 'record' | 'audit';
  readonly where: string;
  readonly problem: string;
}
export interface ControlReport {
  readonly records: number;
  readonly auditEntries: number;
  /** At most `FINDINGS_MAX`. */
  readonly findings: readonly ControlFinding[];
}

interface Waiting {
  readonly run: (change: Change) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class ControlStore {
  readonly #log: Log;
  readonly #key: KeyObject;
  readonly #clock: Clock;
  /** Without them the control key seals everything. */
  readonly #recordKeys: RecordKeys | undefined;
  /** Keys of deleted records that are not destroyed yet. */
  #doomedKeys: number[] = [];
  readonly #tables: Tables = {
    memory: new Map(),
    key: new Map(),
    reply: new Map(),
    setting: new Map(),
    hook: new Map(),
    hookState: new Map(),
    provider: new Map(),
    importJob: new Map(),
    importFile: new Map(),
    subjectRequest: new Map(),
  };
  readonly #watchers: Watchers = {
    memory: [],
    key: [],
    reply: [],
    setting: [],
    hook: [],
    hookState: [],
    provider: [],
    importJob: [],
    importFile: [],
    subjectRequest: [],
  };
  readonly #waiting: Waiting[] = [];
  #published: ((changes: readonly CommittedChange[]) => Promise<void>) | undefined;
  #draining: Promise<void> | undefined;
  #auditHead: AuditHead = GENESIS;
  #memoryNext = 1;

  private constructor(log: Log, key: KeyObject, clock: Clock, recordKeys: RecordKeys | undefined) {
    this.#log = log;
    this.#key = key;
    this.#clock = clock;
    this.#recordKeys = recordKeys;
  }

  /** Reads every live record. Throws CRY-E001 under a wrong key, and CorruptRecord for a damaged record. */
  static open(log: Log, key: KeyObject, clock: Clock, recordKeys?: RecordKeys): ControlStore {
    const store = new ControlStore(log, key, clock, recordKeys);
    store.#replay();
    return store;
  }

  #replay(): void {
    const head = this.#log.getState(AUDIT_HEAD);
    if (head !== undefined) this.#auditHead = JSON.parse(Buffer.from(head).toString('utf8')) as AuditHead; // written below
    const next = this.#log.getState(MEMORY_NEXT);
    if (next !== undefined) this.#memoryNext = Buffer.from(next).readUInt32BE(0);
    for (const record of this.#log.scan(1)) {
      if (record instanceof CorruptRecord) throw record;
      const { number, own, sealed } = partsOf(record.bytes);
      const kind = ENTITY_KINDS.find((one) => RECORD_KINDS[one] === number);
      // In an older copy of the log: the key was destroyed since.
      if (kind === undefined || this.#recordKeys?.isDestroyed(own) === true) continue;
      this.#take(kind, { own, sealed }, record.sequence);
    }
    this.#recordKeys?.destroyOthers(new Set(this.#ownKeys()), this.#clock.nowMs());
  }

  #take<K extends EntityKind>(kind: K, { own, sealed }: Sealed, sequence: Sequence): void {
    const value = JSON.parse(open(this.#keyOf(own), sealed, aadOf(kind)).toString('utf8')) as Entities[K]; // sealed by #record
    const table: Map<string, Held<Entities[K]>> = this.#tables[kind];
    table.set(entityId(kind, value), { value, sequence, own });
  }

  #keyOf(own: number): KeyObject {
    if (own === 0) return this.#key;
    if (this.#recordKeys === undefined)
      throw new EngineError('STO-E001', 'this record needs record keys, which were not opened');
    return this.#recordKeys.get(own);
  }

  *#ownKeys(): IterableIterator<number> {
    for (const kind of ENTITY_KINDS) for (const { own } of this.#tables[kind].values()) if (own !== 0) yield own;
  }

  get<K extends EntityKind>(kind: K, id: string): Entities[K] | undefined {
    const table: Map<string, Held<Entities[K]>> = this.#tables[kind];
    return table.get(id)?.value;
  }

  count(kind: EntityKind): number {
    return this.#tables[kind].size;
  }

  *values<K extends EntityKind>(kind: K): IterableIterator<Entities[K]> {
    const table: Map<string, Held<Entities[K]>> = this.#tables[kind];
    for (const held of table.values()) yield held.value;
  }

  watch<K extends EntityKind>(kind: K, watcher: Watcher<K>): void {
    this.#watchers[kind].push(watcher);
  }

  /** Changes are answered once `published` has resolved for their group. It gets each durable group, in order. */
  publishTo(published: (changes: readonly CommittedChange[]) => Promise<void>): void {
    this.#published = published;
  }

  /** Why changes are rejected until the log is opened again; undefined when they are not. */
  get poisoned(): string | undefined {
    return this.#log.poisoned;
  }

  /** Why changes are rejected, temporarily or until the log is opened again. */
  get refusing(): string | undefined {
    return this.#log.poisoned ?? this.#log.lapsed ?? this.#log.refusing;
  }

  /** Why another node may have the log, so that what is known here may be out of date; undefined while it is this node's. */
  get lapsed(): string | undefined {
    return this.#log.lapsed;
  }

  /** The deployment's audit entries after entry `after`, oldest first. */
  *auditEntries(after = 0): IterableIterator<AuditEntry> {
    for (const record of this.#log.scan(1)) {
      if (record instanceof CorruptRecord) throw record;
      if (record.bytes[0] !== RECORD_KINDS.audit) continue;
      const text = open(this.#key, record.bytes.subarray(1), aadOf('audit')).toString('utf8');
      const entry = JSON.parse(text) as AuditEntry; // sealed by #record
      if (entry.seq > after) yield entry;
    }
  }

  /**
   * Reads everything again: every record must open, and the audit entries must form one chain up to its head. Yields in
   * between.
   */
  async verify(): Promise<ControlReport> {
    const findings: ControlFinding[] = [];
    const found = (finding: ControlFinding): void => {
      if (findings.length < FINDINGS_MAX) findings.push(finding);
    };
    const committed = this.#auditHead;
    let head: AuditHead = GENESIS;
    let records = 0;
    for (const record of this.#log.scan(1, this.#log.nextSequence)) {
      records += 1;
      if (records % VERIFY_SLICE === 0) await setImmediate();
      const where = `sequence ${record.sequence}`;
      if (record instanceof CorruptRecord) {
        found({ kind: 'record', where, problem: record.message });
        continue;
      }
      const { number, own, sealed } = partsOf(record.bytes);
      const kind = KIND_NAMES.get(number);
      if (this.#recordKeys?.isDestroyed(own) === true) continue;
      try {
        if (kind === undefined) throw new Error(`unknown kind ${number}`);
        const text = open(this.#keyOf(own), sealed, aadOf(kind)).toString('utf8');
        if (kind !== 'audit') continue;
        const entry = JSON.parse(text) as AuditEntry; // sealed by #record
        if (entry.seq > committed.seq) continue;
        const checked = checkChain(head, [entry]);
        if ('badSeq' in checked)
          found({ kind: 'audit', where: `seq ${entry.seq}`, problem: 'the audit chain breaks here' });
        head = { seq: entry.seq, hash: entry.hash };
      } catch (error) {
        found({ kind: 'record', where, problem: error instanceof Error ? error.message : String(error) });
      }
    }
    if (head.seq < committed.seq)
      found({ kind: 'audit', where: `seq ${head.seq + 1}`, problem: 'the audit chain ends before its head' });
    return { records, auditEntries: head.seq, findings };
  }

  /**
   * Queues `plan`, and resolves to its result once its changes are durable. A plan that throws changes nothing. Rejects
   * with STO-E001 when the log rejects the group: then nothing of the group is applied.
   */
  commit<T>(plan: (change: Change) => T): Promise<T> {
    if (this.#waiting.length >= CONTROL_PENDING_MAX)
      return Promise.reject(
        new EngineError('LIM-E001', 'too many changes of the deployment are waiting: try again later'),
      );
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ run: plan, resolve: (value) => resolve(value as T), reject }); // resolved with run's value
      this.#draining ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    // The first change waits one turn for others of the same turn.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#commitGroup(this.#waiting.splice(0, CONTROL_GROUP_MAX));
    // In the turn that found the queue empty: a later change starts a new drain.
    this.#draining = undefined;
  }

  async #commitGroup(members: readonly Waiting[]): Promise<void> {
    const group = new Group(this.#tables, this.#watchers, this.#memoryNext);
    const granted: { readonly member: Waiting; readonly value: unknown }[] = [];
    for (const member of members) {
      const mark = group.mark();
      try {
        granted.push({ member, value: member.run(group) });
      } catch (error) {
        group.undoTo(mark);
        member.reject(error);
      }
    }
    try {
      await this.#append(group);
    } catch (error) {
      group.undoTo({ undos: 0, audits: 0 });
      for (const { member } of granted) member.reject(error);
      return;
    }
    await this.#published?.(this.#committed(group));
    for (const { member, value } of granted) member.resolve(value);
  }

  #committed(group: Group): readonly CommittedChange[] {
    return [...group.dirty.values()].map(
      ({ kind, id }) => ({ kind, id, value: this.#tables[kind].get(id)?.value }) as CommittedChange, // of one table
    );
  }

  async #append(group: Group): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const chain = extendChain(this.#auditHead, group.audits, Math.floor(nowMs / 1000));
    const records: Buffer[] = [];
    const removals: Sequence[] = [];
    const written: { readonly held: Held<unknown>; readonly offset: number }[] = [];
    const doomed: number[] = [];
    for (const { kind, id, sequence, own: former } of group.dirty.values()) {
      if (sequence > 0) removals.push(sequence);
      const held = this.#tables[kind].get(id);
      const isOwn = held !== undefined && this.#recordKeys !== undefined && hasOwnKey(kind, held.value);
      const own = isOwn && !group.renewed.has(`${kind} ${id}`) ? former : 0;
      if (former !== 0 && own === 0) doomed.push(former);
      if (held === undefined) continue;
      held.own = isOwn ? own || this.#recordKeys!.make() : 0;
      written.push({ held, offset: records.length });
      records.push(this.#record(kind, held.value, held.own));
    }
    for (const entry of chain.entries) records.push(this.#record('audit', entry));
    const waiting = this.#recordKeys?.slotsWaiting ?? 0;
    if (records.length === 0 && removals.length === 0 && waiting === 0) return;
    const state: [string, Uint8Array][] = [];
    if (chain.entries.length > 0) state.push([AUDIT_HEAD, Buffer.from(JSON.stringify(chain.head), 'utf8')]);
    if (group.memoryNext !== this.#memoryNext) {
      const next = Buffer.alloc(4);
      next.writeUInt32BE(group.memoryNext);
      state.push([MEMORY_NEXT, next]);
    }
    this.#recordKeys?.flush();
    const keySlots = this.#recordKeys?.slotsToAppend([...this.#doomedKeys, ...doomed], nowMs);
    const first = await this.#log.append({ records, removals, state, keySlots });
    for (const { held, offset } of written) held.sequence = first + offset;
    this.#auditHead = chain.head;
    this.#memoryNext = group.memoryNext;
    this.#destroyKeys(doomed, nowMs);
    if (keySlots !== undefined) this.#recordKeys?.slotsAppended(keySlots);
  }

  /** Destroys keys of deleted records. Failures are repeated with the next change, or at the next start. */
  #destroyKeys(ids: readonly number[], nowMs: number): void {
    if (this.#recordKeys === undefined) return;
    this.#doomedKeys.push(...ids);
    try {
      this.#recordKeys.destroy(this.#doomedKeys, nowMs);
      this.#doomedKeys = [];
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }

  #record(kind: keyof typeof RECORD_KINDS, value: unknown, own = 0): Buffer {
    const sealed = seal(this.#keyOf(own), Buffer.from(JSON.stringify(value), 'utf8'), aadOf(kind));
    if (own === 0) return Buffer.concat([Buffer.of(RECORD_KINDS[kind]), sealed]);
    const head = Buffer.alloc(5);
    head[0] = RECORD_KINDS[kind] + UNDER_OWN_KEY;
    head.writeUInt32BE(own, 1);
    return Buffer.concat([head, sealed]);
  }

  /** Wraps the record keys under `next`'s current master key. Resolves to how many were wrapped again. */
  async rewrapKeys(next: MasterKey): Promise<number> {
    const rewrapped = this.#recordKeys?.rewrap(next) ?? 0;
    // Where the log keeps the slots, an append of the next change takes them.
    if ((this.#recordKeys?.slotsWaiting ?? 0) > 0) await this.commit(() => undefined);
    return rewrapped;
  }

  /** Bytes of the log on disk. */
  bytesOnDisk(): number {
    return this.#log.bytesOnDisk();
  }

  /** Copies the log into one folder, then the record keys into another, so that the copied log has all its keys. */
  async backup(directory: string, keysDirectory: string): Promise<void> {
    await this.#log.backup(directory);
    this.#recordKeys?.copyTo(keysDirectory);
  }

  /** Changes wait for a database that is away only for a moment from now on. */
  closing(): void {
    this.#log.closing?.();
  }

  /** Waits for running changes, at most `drainMs`, since a database may be away; then closes the log. */
  async close(drainMs = DRAIN_MS): Promise<void> {
    await isSettledWithin(Promise.resolve(this.#draining), drainMs);
    await this.#log.close();
    this.#recordKeys?.close();
  }
}

interface Sealed {
  readonly own: number;
  readonly sealed: Uint8Array;
}

/** Splits a record into its kind, the id of its own key (0: none) and the sealed bytes. */
function partsOf(bytes: Uint8Array): Sealed & { readonly number: number } {
  const number = bytes[0] ?? 0;
  if (number < UNDER_OWN_KEY) return { number, own: 0, sealed: bytes.subarray(1) };
  const own = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(1);
  return { number: number - UNDER_OWN_KEY, own, sealed: bytes.subarray(5) };
}
