// The memories of a deployment: records, id rules, creation and deletion on the shards.

import type { Clock } from '../../engine/base/clock.ts';
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { ERASURE_RETRY_MS } from '../../engine/base/limits.ts';
import { subjectOf } from '../../engine/govern/access/caller.ts';
import type { ScopeNode } from '../../engine/govern/scope-tree.ts';
import type { JsonObject, MemorySettings } from '../../shards/protocol.ts';
import { isModelBackend, type ModelBackend } from '../embedding/backends.ts';
import type { Logger } from '../log.ts';
import { comparePlaces, type Place } from '../operations/page.ts';
import { type FirstChange, UNKEPT } from '../replies.ts';
import type { Shards } from '../shards.ts';
import { governingOf, isHeld, isUnsettled } from './governing.ts';
import { randomId, slugOf } from './ids.ts';
import { endKey, endReplies } from './keys.ts';
import type { ControlChanges } from './reading.ts';
import { hasOwnKey, type MemoryRecord } from './records.ts';

export type { MemoryRecord } from './records.ts';

export const DEFAULT_MEMORY = 'default';
/** Memories attached to the shards at once; each partition adds a call. */
const ATTACH_ROUND = 250;
const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const ID_CHARS_MAX = 63;
const ID_FORM = `must have 1 to ${ID_CHARS_MAX} letters, digits, dots, hyphens and underscores, the first a letter or a digit`;

export interface NewMemory {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly region?: string | undefined;
  readonly settings?: JsonObject | undefined;
  readonly partitions?: number | undefined;
  readonly language?: string | undefined;
  readonly dedup?: MemorySettings['dedup'] | undefined;
  readonly dedupThreshold?: number | undefined;
  readonly vectorBackend?: string | undefined;
  /** The first version of its policy. */
  readonly policy?: Omit<NonNullable<MemorySettings['policy']>, 'sealedBy'> | undefined;
}

/** Actor and request of a change. */
interface By {
  readonly actor: string;
  readonly requestId: string;
}

export class Memories {
  readonly #store: ControlChanges;
  readonly #shards: Shards;
  readonly #clock: Clock;
  readonly #max: number;
  readonly #byNumber = new Map<number, MemoryRecord>();
  /** Ordered by time, then id; computed again after a memory is created or deleted. */
  #sorted: readonly MemoryRecord[] | undefined;
  /** Number of memories per `vector_backend`; those without one count under ''. */
  readonly #backends = new Map<string, number>();
  #backendsChanged: () => void = () => undefined;

  #scopesChanged: Promise<void> = Promise.resolve();
  /** Deletions that have begun and could not be completed, by memory number, with their retry timers. */
  readonly #unfinished = new Map<number, NodeJS.Timeout>();
  readonly #retryMs: number;
  readonly #log: Pick<Logger, 'warn'> | undefined;
  #closed = false;

  constructor(parts: {
    readonly store: ControlChanges;
    readonly shards: Shards;
    readonly clock: Clock;
    readonly memoriesMax: number;
    readonly log?: Pick<Logger, 'warn'> | undefined;
    /** Wait before an incomplete deletion is retried. */
    readonly retryMs?: number | undefined;
  }) {
    this.#retryMs = parts.retryMs ?? ERASURE_RETRY_MS;
    this.#log = parts.log;
    this.#store = parts.store;
    this.#shards = parts.shards;
    this.#clock = parts.clock;
    this.#max = parts.memoriesMax;
    for (const memory of parts.store.values('memory')) this.#note(memory, undefined);
    parts.store.watch('memory', (_, value, before) => {
      this.#sorted = undefined;
      this.#note(value, before);
      this.#backendsChanged();
    });
  }

  #note(value: MemoryRecord | undefined, before: MemoryRecord | undefined): void {
    const count = ({ vectorBackend = '' }: MemoryRecord, more: number): void => {
      this.#backends.set(vectorBackend, (this.#backends.get(vectorBackend) ?? 0) + more);
    };
    if (before !== undefined) {
      this.#byNumber.delete(before.number);
      count(before, -1);
    }
    if (value !== undefined) {
      this.#byNumber.set(value.number, value);
      count(value, 1);
    }
  }

  /** Calls `changed` when a memory was made, changed or deleted, and with it the backends may have. */
  watchBackends(changed: () => void): void {
    this.#backendsChanged = changed;
  }

  /** True when a memory has this `vector_backend`; '' means none of its own. */
  hasBackend(backend: string): boolean {
    return (this.#backends.get(backend) ?? 0) > 0;
  }

  /** The `vector_backend`s of memories that name a model (`onnx:NAME`). */
  modelBackends(): readonly ModelBackend[] {
    return [...this.#backends].flatMap(([backend, count]) => (count > 0 && isModelBackend(backend) ? [backend] : []));
  }

  /** The memory with that number, also during its deletion. */
  byNumber(number: number): MemoryRecord | undefined {
    return this.#byNumber.get(number);
  }

  /** Settings by number, for the router; also of memories being deleted. */
  settingsOf(number: number): MemorySettings | undefined {
    const memory = this.#byNumber.get(number);
    return memory === undefined ? undefined : settingsOf(memory);
  }

  /** The memory, or throws MEM-E003. */
  get(id: string): MemoryRecord {
    const found = this.find(id);
    if (found === undefined)
      throw new EngineError('MEM-E003', `there is no memory ${JSON.stringify(id.slice(0, ID_CHARS_MAX))}`);
    return found;
  }

  find(id: string): MemoryRecord | undefined {
    const found = this.#store.get('memory', id);
    return found?.deleting === true ? undefined : found;
  }

  get count(): number {
    return this.#store.count('memory');
  }

  /** All live memories, oldest first, ties by id. */
  list(): readonly MemoryRecord[] {
    this.#sorted ??= [...this.#store.values('memory')]
      .filter((memory) => memory.deleting !== true)
      .sort((one, other) => comparePlaces(placeOfMemory(one), placeOfMemory(other)));
    return this.#sorted;
  }

  /**
   * Attaches every memory to the shards, continues interrupted deletions (in the background if they cannot complete
   * now), and creates `default` in a new deployment. Run once, before the server answers.
   */
  async start(): Promise<void> {
    const all = [...this.#store.values('memory')];
    for (const memory of all)
      if (memory.deleting === true) await this.#destroy(memory, 'system', 'start').catch(() => undefined);
    const living = all.filter((memory) => memory.deleting !== true).map(settingsOf);
    // In rounds: workers accept a bounded number of calls at once.
    for (let from = 0; from < living.length; from += ATTACH_ROUND)
      await this.#shards.attach(living.slice(from, from + ATTACH_ROUND));
    // A memory whose shards do not answer stays unsettled: its texts are not sent out.
    for (const memory of all) if (isUnsettled(memory)) await this.settleSealing(memory).catch(() => undefined);
    if (this.find(DEFAULT_MEMORY) === undefined && all.length === 0)
      await this.create({ id: DEFAULT_MEMORY }, { actor: 'system', requestId: 'start' });
  }

  /**
   * Creates a memory, and makes the caller its owner. Throws VAL-E001 for an invalid id or option, MEM-E004 when the
   * given id is taken, LIM-E002 over the deployment's limit.
   */
  async create(
    wanted: NewMemory,
    by: { readonly actor: string; readonly requestId: string; readonly first?: FirstChange },
  ): Promise<MemoryRecord> {
    if (wanted.id !== undefined && !ID_PATTERN.test(wanted.id)) throw badOption('id', ID_FORM);
    const partitions = wanted.partitions ?? 1;
    if (partitions < 1 || partitions > this.#shards.shardCount)
      throw badOption('partitions', `must be from 1 to ${this.#shards.shardCount}`);
    const { first = UNKEPT } = by;
    const before = typeof first.made === 'number' ? this.byNumber(first.made) : undefined;
    const made = before?.deleting === true ? undefined : before;
    const memory =
      made ??
      (await this.#store.commit((change) => {
        if (this.#store.count('memory') >= this.#max)
          throw new EngineError(
            'LIM-E002',
            `the deployment has its maximum of ${this.#max} memories: delete one first`,
          );
        const id = this.#freeId(wanted);
        const record: MemoryRecord = defined({
          number: change.takeMemoryNumber(),
          id,
          name: wanted.name?.normalize('NFC') ?? id,
          description: wanted.description ?? '',
          owner: by.actor,
          region: wanted.region,
          settings: wanted.settings,
          partitions,
          language: wanted.language ?? 'en',
          dedup: wanted.dedup ?? 'exact',
          dedupThreshold: wanted.dedupThreshold ?? 0.85,
          vectorBackend: wanted.vectorBackend,
          policy: wanted.policy === undefined ? undefined : { ...wanted.policy, sealedBy: by.actor },
          createdAtMs: this.#clock.nowMs(),
        });
        change.put('memory', record);
        first.keep(change, record.number);
        change.audit({ event: 'instance.created', actor: by.actor, subject: '', details: { memory: record.number } });
        return record;
      }));
    try {
      await this.#shards.call('attachMemory', contextOf(memory, by), { settings: settingsOf(memory) });
      const subject = subjectOf(by);
      const tuple = { subject: subject ?? '', relation: 'owner', object: `memory:${memory.id}` };
      if (subject !== undefined) await this.#shards.call('grantTuple', contextOf(memory, by), { tuple });
    } catch (error) {
      // Others may have used a memory of an earlier run meanwhile.
      if (made !== undefined) throw error;
      // Its keys could not be created. The memory was not announced, so drop it again, from all partitions. An
      // unreachable partition may keep leftovers, which no id refers to.
      await this.#shards.call('dropMemory', contextOf(memory, by), {}).catch(() => undefined);
      await this.#store.commit((change) => change.remove('memory', memory.id));
      throw error;
    }
    return memory;
  }

  #freeId(wanted: NewMemory): string {
    if (wanted.id !== undefined) {
      if (this.#store.get('memory', wanted.id) !== undefined)
        throw new EngineError('MEM-E004', `memory id taken: ${wanted.id}`);
      return wanted.id;
    }
    const base = wanted.name === undefined ? '' : slugOf(wanted.name);
    if (base === '') return randomId('mem');
    if (this.#store.get('memory', base) === undefined) return base;
    for (let suffix = 2; suffix <= this.#max + 2; suffix += 1) {
      const id = `${base.slice(0, 62 - String(suffix).length)}-${suffix}`;
      if (this.#store.get('memory', id) === undefined) return id;
    }
    return randomId('mem');
  }

  /** Sets a memory's scope tree in every partition. MEM-E003 when the memory was deleted in the meantime. */
  async setScopes(memory: MemoryRecord, root: ScopeNode, by: By): Promise<NonNullable<MemorySettings['scopes']>> {
    const scopes = { root, updatedAtMs: this.#clock.nowMs() };
    await this.#changeScopes(memory, scopes, by);
    return scopes;
  }

  async dropScopes(memory: MemoryRecord, by: By): Promise<void> {
    await this.#changeScopes(memory, undefined, by);
  }

  /**
   * Changes run one after the other, so that the shards end with the last one. After an interruption the next start
   * repeats it.
   */
  #changeScopes(memory: MemoryRecord, scopes: MemorySettings['scopes'], by: By): Promise<void> {
    const change = this.#scopesChanged.then(async () => {
      const changed = await this.#store.commit((group) => {
        const { scopes: _, ...now } = this.get(memory.id);
        if (now.number !== memory.number) throw new EngineError('MEM-E003');
        const record: MemoryRecord = scopes === undefined ? now : { ...now, scopes };
        group.put('memory', record);
        return record;
      });
      await this.#shards.call('attachMemory', contextOf(memory, by), { settings: settingsOf(changed) });
    });
    this.#scopesChanged = change.catch(() => undefined);
    return change;
  }

  /** Stores the parts of a newly sealed policy that a list of memories shows. */
  async noteGoverning({ id, number }: MemoryRecord, policy: JsonObject): Promise<void> {
    const governing = governingOf(policy);
    await this.#store.commit((change) => {
      const memory = this.find(id);
      if (memory?.number !== number) return;
      const { sealing, ...noted } = memory;
      // Answers may arrive in another order than the versions that they report.
      const isNews =
        (memory.governing?.version ?? 0) <= governing.version &&
        JSON.stringify(memory.governing) !== JSON.stringify(governing);
      if (isNews || sealing !== undefined) change.put('memory', isNews ? { ...noted, governing } : noted);
    });
  }

  /**
   * A policy is about to be sealed. Until it is recorded no text of the memory is sent out, even after a restart in
   * between.
   */
  async beginSealing({ id, number }: MemoryRecord): Promise<void> {
    await this.#store.commit((change) => {
      const memory = this.find(id);
      if (memory?.number === number && memory.sealing !== true) change.put('memory', { ...memory, sealing: true });
    });
  }

  /** Records the policy in force after a seal failed or was interrupted. */
  async settleSealing(memory: MemoryRecord): Promise<void> {
    const { policy } = await this.#shards.call(
      'policy',
      contextOf(memory, { actor: 'system', requestId: 'policy' }),
      {},
    );
    if (policy !== null) await this.noteGoverning(memory, policy);
  }

  /**
   * Destroys a memory's keys in every shard, then removes its record and revokes API keys bound to it. Resolves to the
   * proof's fingerprint. POL-E003 when its policy forbids deletion.
   */
  async delete(memory: MemoryRecord, by: { actor: string; requestId: string }): Promise<string> {
    const { keyFingerprint } = await this.#shards.call('dropMemory', contextOf(memory, by), { check: true });
    // With lost keys the policy is unreadable too, so the last recorded one counts.
    if (keyFingerprint !== '' && isHeld(memory))
      throw new EngineError('POL-E003', 'a legal hold of the policy forbids deleting this memory');
    await this.#store.commit((change) => {
      if (this.find(memory.id)?.number !== memory.number) throw new EngineError('MEM-E003');
      change.put('memory', { ...memory, deleting: true });
      // Another memory may get this id later, and these keys must not open it.
      const keys = [...this.#store.values('key')].filter(({ memoryId }) => memoryId === memory.id);
      for (const key of keys) endKey(change, key, { actor: by.actor, nowMs: this.#clock.nowMs() });
      endReplies(
        change,
        this.#store.values('reply'),
        keys.filter((key) => hasOwnKey('key', key)),
      );
    });
    return this.#destroy(memory, by.actor, by.requestId);
  }

  /**
   * Clients cannot repeat the request, because the memory no longer answers: failures are retried until the server
   * stops.
   */
  async #destroy(memory: MemoryRecord, actor: string, requestId: string): Promise<string> {
    try {
      return await this.#destroyNow(memory, actor, requestId);
    } catch (error) {
      if (this.#closed) throw error;
      this.#log?.warn({ err: error, memory: memory.number }, 'the deletion of a memory is not complete yet');
      const again = (): void => void this.#destroy(memory, actor, requestId).catch(() => undefined);
      this.#unfinished.set(memory.number, setTimeout(again, this.#retryMs).unref());
      throw error;
    }
  }

  /** The next start continues incomplete deletions. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#unfinished.values()) clearTimeout(timer);
  }

  async #destroyNow(memory: MemoryRecord, actor: string, requestId: string): Promise<string> {
    const { keyFingerprint } = await this.#shards.call('dropMemory', contextOf(memory, { actor, requestId }), {});
    await this.#store.commit((change) => {
      change.remove('memory', memory.id);
      for (const { name } of [...this.#store.values('setting')])
        if (name.startsWith(settingsPrefix(memory.number))) change.remove('setting', name);
      for (const { id } of [...this.#store.values('reply')])
        if (id.startsWith(repliesPrefix(memory.number))) change.remove('reply', id);
      for (const { id } of [...this.#store.values('hook')].filter((hook) => hook.memory === memory.number)) {
        change.remove('hook', id);
        if (this.#store.get('hookState', id) !== undefined) change.remove('hookState', id);
      }
      for (const kind of ['importJob', 'importFile', 'subjectRequest'] as const)
        for (const { id } of [...this.#store.values(kind)].filter((one) => one.memory === memory.number))
          change.remove(kind, id);
      change.audit({
        event: 'instance.deleted',
        actor,
        subject: '',
        details: { key_fingerprint: keyFingerprint, memory: memory.number },
      });
    });
    return keyFingerprint;
  }
}

/** Prefix of the names of a memory's own settings; they are deleted with it. */
export function settingsPrefix(memory: number): string {
  return `memory/${memory}/`;
}

/** Prefix of the ids of stored answers about a memory; they are deleted with it. */
export function repliesPrefix(memory: number): string {
  return `${memory} `;
}

export function placeOfMemory(memory: MemoryRecord): Place {
  return { timeMs: memory.createdAtMs, id: memory.id };
}

/** The settings of a memory that shards need. */
export function settingsOf(memory: MemoryRecord): MemorySettings {
  const {
    number,
    id,
    partitions,
    language,
    dedup,
    dedupThreshold,
    createdAtMs,
    vectorBackend,
    region,
    policy,
    scopes,
  } = memory;
  return defined({
    number,
    id,
    partitions,
    language,
    dedup,
    dedupThreshold,
    createdAtMs,
    vectorBackend,
    region,
    policy,
    scopes,
  });
}

function contextOf(memory: MemoryRecord, by: { actor: string; requestId: string }) {
  // Operations on a whole memory ask for scope admin, or for the right to create it.
  return { memory: memory.number, actor: by.actor, requestId: by.requestId, owns: true as const };
}

function badOption(field: string, issue: string): EngineError {
  return new EngineError('VAL-E001', `\`${field}\` ${issue}`, { details: [{ field, issue }] });
}
