// A copy of the control log in memory, on a node that does not have the log. It may be used for less than a second after its
// owner was asked for the last time. Times are counted from when the question was sent, by two clocks, because the monotonic clock
// of Linux stands still while a machine sleeps.

import { EngineError } from '../../../engine/base/errors.ts';
import { COPY_BEGIN_MS, COPY_VALID_MS } from '../../../engine/base/limits.ts';
import type { Watcher, Watchers } from '../group.ts';
import type { ControlChanges } from '../reading.ts';
import { type Entities, type EntityKind, entityId } from '../records.ts';
import { COPIED_KINDS, type CopiedChange, isCopied } from './messages.ts';
import { NeedsLeader } from './needs-leader.ts';

/** A moment, by the monotonic clock and by that of the day, in milliseconds. */
export interface Moment {
  readonly steadyMs: number;
  readonly dayMs: number;
}

export function now(): Moment {
  return { steadyMs: performance.now(), dayMs: Date.now() };
}

const STALE =
  'this node has not heard from the owner of the control log for a second: keys and memories may have changed';

/** True for a refusal for that reason. */
export function isStale({ code, message }: EngineError): boolean {
  return code === 'STO-E002' && message.endsWith(STALE);
}

type CopiedTables = { [K in EntityKind]?: Map<string, Entities[K]> };
type CopiedWatchers = Pick<Watchers, (typeof COPIED_KINDS)[number]>;

export class ControlReplica implements ControlChanges {
  readonly #tables: CopiedTables = {
    memory: new Map(),
    key: new Map(),
    setting: new Map(),
    provider: new Map(),
  };
  readonly #watchers: CopiedWatchers = { memory: [], key: [], setting: [], provider: [] };
  readonly #now: () => Moment;
  #asked: Moment | undefined;

  constructor(clocks: () => Moment = now) {
    this.#now = clocks;
  }

  /** Throws NeedsLeader for a record that copies do not have. */
  get<K extends EntityKind>(kind: K, id: string): Entities[K] | undefined {
    if (!isCopied(kind, id)) throw new NeedsLeader(`this node has no copy of ${kind} records`);
    return this.#table(kind).get(id);
  }

  count(kind: EntityKind): number {
    return this.#table(kind).size;
  }

  values<K extends EntityKind>(kind: K): IterableIterator<Entities[K]> {
    return this.#table(kind).values();
  }

  /** Returns the function that ends the watch. */
  watch<K extends EntityKind>(kind: K, watcher: Watcher<K>): () => void {
    const all: Partial<Watchers> = this.#watchers;
    const watchers = all[kind];
    watchers?.push(watcher);
    return () => {
      const at = watchers?.indexOf(watcher) ?? -1;
      if (at >= 0) watchers?.splice(at, 1);
    };
  }

  #table<K extends EntityKind>(kind: K): Map<string, Entities[K]> {
    const table: Map<string, Entities[K]> | undefined = this.#tables[kind];
    if (table === undefined) throw new NeedsLeader(`this node has no copy of ${kind} records`);
    return table;
  }

  /** Rejects with STO-E002: only the owner of the log changes it. */
  commit<T>(): Promise<T> {
    return Promise.reject(
      new EngineError('STO-E002', 'this node has a copy of the control log, which it cannot change'),
    );
  }

  /** Why nothing may be answered by the copy; undefined while it may. */
  get lapsed(): string | undefined {
    return this.isFresh ? undefined : STALE;
  }

  get isFresh(): boolean {
    return this.#isYounger(COPY_VALID_MS);
  }

  /** Milliseconds since a moment at which it had everything; undefined when it may lack more, or is of another node's log. */
  get ageMs(): number | undefined {
    return this.#asked === undefined ? undefined : this.#now().steadyMs - this.#asked.steadyMs;
  }

  /** True while a request may begin with it, which has some time then. */
  get mayBegin(): boolean {
    return this.#isYounger(COPY_BEGIN_MS);
  }

  #isYounger(ms: number): boolean {
    const asked = this.#asked;
    if (asked === undefined) return false;
    const { steadyMs, dayMs } = this.#now();
    return steadyMs - asked.steadyMs < ms && dayMs - asked.dayMs < ms;
  }

  /** The copy has all that was answered to anybody before `asked`. */
  confirm(asked: Moment): void {
    this.#asked = asked;
  }

  /** It may lack a change. */
  expire(): void {
    this.#asked = undefined;
  }

  apply(changes: readonly CopiedChange[]): void {
    for (const { kind, id, value } of changes) this.#set(kind, id, value ?? undefined);
  }

  /** Removes all other records. */
  replace(records: readonly CopiedChange[]): void {
    const kept = new Set(records.map(({ kind, id }) => `${kind} ${id}`));
    for (const kind of COPIED_KINDS)
      for (const value of [...this.#table(kind).values()]) {
        const id = entityId(kind, value);
        if (!kept.has(`${kind} ${id}`)) this.#set(kind, id, undefined);
      }
    this.apply(records);
  }

  #set<K extends EntityKind>(kind: K, id: string, value: Entities[K] | undefined): void {
    const table = this.#table(kind);
    const before = table.get(id);
    if (value === undefined) table.delete(id);
    else table.set(id, value);
    const watchers: Partial<Watchers> = this.#watchers;
    for (const watcher of watchers[kind] ?? []) watcher(id, value, before);
  }
}

/** The copy as the parts of one server see it, which may end before the copy does. */
export class ReplicaView implements ControlChanges {
  readonly #replica: ControlReplica;
  #watches: (() => void)[] = [];

  constructor(replica: ControlReplica) {
    this.#replica = replica;
  }

  get<K extends EntityKind>(kind: K, id: string): Entities[K] | undefined {
    return this.#replica.get(kind, id);
  }

  count(kind: EntityKind): number {
    return this.#replica.count(kind);
  }

  values<K extends EntityKind>(kind: K): IterableIterator<Entities[K]> {
    return this.#replica.values(kind);
  }

  get lapsed(): string | undefined {
    return this.#replica.lapsed;
  }

  commit<T>(): Promise<T> {
    return this.#replica.commit();
  }

  watch<K extends EntityKind>(kind: K, watcher: Watcher<K>): void {
    this.#watches.push(this.#replica.watch(kind, watcher));
  }

  /** Ends all watches. Otherwise the copy would keep the parts of each server that has ended, and go on to call them. */
  close(): void {
    for (const end of this.#watches) end();
    this.#watches = [];
  }
}
