// A whole server without threads and sockets: engines on folders in memory, direct shards, the router. It can die at
// any append and reopens from its files, or from a database, with its folders or without them.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../../src/engine/base/assert.ts';
import type { Clock } from '../../src/engine/base/clock.ts';
import { EngineError } from '../../src/engine/base/errors.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { SYSTEM_ACTOR } from '../../src/engine/govern/trail/audit.ts';
import { FaultyLog } from '../../src/engine/log/faulty.ts';
import { FORMAT_VERSION } from '../../src/engine/log/format.ts';
import { MemoryLog, MemoryLogStore } from '../../src/engine/log/memory.ts';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { Lease } from '../../src/engine/log/postgres/lease.ts';
import { openEngine } from '../../src/engine/open.ts';
import { placementOf } from '../../src/server/placement-of.ts';
import type { RouterContext } from '../../src/shards/gather/fan.ts';
import {
  CALL_ROWS,
  type Input,
  type MemoryMethod,
  type MemorySettings,
  type Output,
} from '../../src/shards/protocol.ts';
import { Router } from '../../src/shards/router.ts';
import type { RawShardCaller } from '../../src/shards/transport/client.ts';
import { directShard } from '../../src/shards/transport/direct.ts';
import { memoryFolder } from '../support/memory-files.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { migratedDatabase } from '../support/store.ts';
import { CrashLog } from './crash-log.ts';

/** The process died before the call was answered. */
export class Crashed extends Error {
  override name = 'Crashed';
}

export interface NodeOptions {
  readonly clock: Clock;
  readonly shards: number;
  readonly sealGrains: number;
  readonly store: StoreKind;
}

/** The log in heap is the fastest. */
export type StoreKind = 'heap' | 'lmdb' | 'postgres';

interface Shard {
  readonly engine: Engine;
  readonly faults: FaultyLog;
  readonly crash: CrashLog;
  readonly caller: RawShardCaller;
}

const MASTER = Buffer.alloc(32, 7);
const NODE = 'sim';
/** Longer than a run. */
const LEASE_MS = 600_000;

export class SimNode {
  /** Memories by number, as in a control log. */
  readonly settings = new Map<number, MemorySettings>();
  readonly #options: NodeOptions;
  readonly #root: string;
  readonly #stores: readonly MemoryLogStore[];
  readonly #database: TestDatabase | undefined;
  #shards: Shard[] = [];
  #router!: Router;
  #generation = 0;
  #crashed = Promise.withResolvers<never>();
  #isDead = false;
  #takenAway = false;
  /** Errors outside a call that only a bug can cause. */
  #bug: unknown;

  private constructor(options: NodeOptions, root: string, stores: readonly MemoryLogStore[], database?: TestDatabase) {
    this.#options = options;
    this.#root = root;
    this.#stores = stores;
    this.#database = database;
  }

  static async open(options: NodeOptions): Promise<SimNode> {
    const stores = Array.from({ length: options.shards }, () => new MemoryLogStore());
    const database = options.store === 'postgres' ? await migratedDatabase(options.shards) : undefined;
    const node = new SimNode(options, memoryFolder(), stores, database);
    await node.#open();
    return node;
  }

  /** Copies everything while it serves. Resolves to a node that owns the copy. */
  async restored(): Promise<SimNode> {
    const root = memoryFolder();
    const bytes = await this.#router.backup(root);
    assert(bytes > 0, 'a backup has bytes');
    const { store } = this.#options;
    const stores = this.#stores.map((_, shard) =>
      store === 'heap' ? MemoryLogStore.restore(join(root, 'data', `shard-${shard}`, 'log')) : new MemoryLogStore(),
    );
    // A backup of a database is the directory of a server without one.
    const copy = new SimNode({ ...this.#options, store: store === 'heap' ? 'heap' : 'lmdb' }, root, stores);
    for (const [number, settings] of this.settings) copy.settings.set(number, settings);
    await copy.#open();
    return copy;
  }

  get engines(): readonly Engine[] {
    return this.#shards.map(({ engine }) => engine);
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get router(): Router {
    return this.#router;
  }

  /** Rejects with EngineError, with Crashed when the node dies first, with anything else for a bug. */
  async call<M extends MemoryMethod>(method: M, context: RouterContext, input: Input<M>): Promise<Output<M>> {
    // Reads are not audited here, because their entries arrive independently of steps.
    const asker = CALL_ROWS[method].kind === 'read' ? { ...context, actor: SYSTEM_ACTOR } : context;
    const answer = this.#router.call(method, asker, input);
    // The loser of the race may reject later, when nothing listens any more.
    answer.catch(() => undefined);
    const result = await Promise.race([answer, this.#crashed.promise]);
    if (this.#bug !== undefined) throw this.#bug;
    return result;
  }

  failNextAppend(shard: number): void {
    this.#shards[shard]!.faults.failNextAppend();
  }

  failNextSync(shard: number, written: boolean): void {
    this.#shards[shard]!.faults.failNextSync({ written });
  }

  crashAfter(shard: number, appends: number, written: boolean): void {
    this.#shards[shard]!.crash.crashAfter(appends, written);
  }

  /** Another node takes the shard out of the database, and gives it back: this one learns it from its next append. */
  async takeAway(shard: number): Promise<void> {
    assert(this.#database !== undefined, 'only a shard in a database has an owner');
    const database = await Database.open(this.#database.url);
    try {
      await database.ask((sql) => sql`UPDATE granary_shards SET expires_at = now() WHERE shard = ${shard}`);
      const stamp = { formatVersion: FORMAT_VERSION, shard, shards: this.#options.shards };
      const lease = await Lease.take(database, { stamp, node: 'thief', leaseMs: LEASE_MS });
      await lease.release();
    } finally {
      await database.close();
    }
    this.#takenAway = true;
  }

  /** Loses what the node keeps of its database, and opens again. */
  async restartEmpty(): Promise<void> {
    assert(this.#database !== undefined, 'a folder without a database holds the truth');
    for (const { engine } of this.#shards) await engine.close();
    rmSync(join(this.#root, 'data'), { recursive: true });
    await this.#open();
  }

  /** Only the shard dies, in its next append. */
  dieAlone(shard: number, written: boolean): void {
    this.#shards[shard]!.crash.crashAfter(0, written, true);
  }

  disarm(): void {
    for (const { crash, faults } of this.#shards) {
      crash.disarm();
      faults.disarm();
    }
  }

  get isPoisoned(): boolean {
    return this.#shards.some(({ faults }) => faults.poisoned !== undefined);
  }

  /** One step of maintenance in a shard; true when there may be more. */
  async maintain(shard: number): Promise<boolean> {
    const more = this.#shards[shard]!.engine.maintain(0);
    await turn();
    if (this.#bug !== undefined) throw this.#bug;
    return more;
  }

  /** Reopens dead shards, after a crash all of them. True when there were any. */
  async recover(): Promise<boolean> {
    if (this.#isDead || this.isPoisoned || this.#takenAway) {
      await this.crash();
      return true;
    }
    const dead = this.#shards.flatMap(({ crash }, shard) => (crash.isDead ? [shard] : []));
    for (const shard of dead) {
      await this.#shards[shard]!.engine.abandon();
      for (let i = 0; i < 3; i++) await turn();
      await this.#openShard(shard);
    }
    if (this.#bug !== undefined) throw this.#bug;
    return dead.length > 0;
  }

  /** Kills the node as it is, unless it died before, and reopens it. */
  async crash(): Promise<void> {
    this.#die();
    await this.#open();
  }

  async restart(): Promise<void> {
    for (const { engine } of this.#shards) await engine.close();
    await this.#open();
  }

  async end(): Promise<void> {
    this.#die();
    for (let i = 0; i < 3; i++) await turn();
    for (const { engine } of this.#shards) await engine.abandon().catch(() => undefined);
    rmSync(this.#root, { recursive: true, force: true });
    await this.#database?.drop();
  }

  #die(): void {
    for (const { crash } of this.#shards) crash.kill();
    if (this.#isDead) return;
    this.#isDead = true;
    this.#crashed.reject(new Crashed('the process died'));
  }

  async #open(): Promise<void> {
    if (this.#isDead) {
      for (const { engine } of this.#shards) await engine.abandon();
      // Work of the dead process fails at its closed files.
      for (let i = 0; i < 3; i++) await turn();
    }
    this.#isDead = false;
    this.#takenAway = false;
    this.#generation += 1;
    this.#crashed = Promise.withResolvers<never>();
    this.#crashed.promise.catch(() => undefined);
    this.#shards = [];
    const { shards } = this.#options;
    await Promise.all(Array.from({ length: shards }, (_, shard) => this.#openShard(shard)));
    this.#router = new Router({
      shards: Array.from({ length: shards }, (_, shard) => this.#callerOf(shard)),
      settingsOf: (memory) => this.settings.get(memory),
      placementOf,
    });
    if (this.#bug !== undefined) throw this.#bug;
  }

  /** The shard's engine at the time of the call. */
  #callerOf(shard: number): RawShardCaller {
    return {
      call: (...call) => this.#shards[shard]!.caller.call(...call),
      callRaw: (...call) => this.#shards[shard]!.caller.callRaw(...call),
    };
  }

  async #openShard(shard: number): Promise<void> {
    const { clock, shards, sealGrains, store } = this.#options;
    const directory = join(this.#root, 'data', `shard-${shard}`);
    const generation = this.#generation;
    const death = Promise.withResolvers<never>();
    death.promise.catch(() => undefined);
    const onCrash = (): void => {
      // A slow append may end when its shard is being opened again.
      if (crash?.diesAlone === true) death.reject(new EngineError('STO-E002', 'the shard died'));
      else if (generation === this.#generation) this.#die();
    };
    let [crash, faults]: [CrashLog | undefined, FaultyLog | undefined] = [undefined, undefined];
    const database =
      this.#database === undefined ? undefined : { url: this.#database.url, node: NODE, leaseMs: LEASE_MS };
    const engine = await openEngine({
      directory,
      keysDirectory: join(this.#root, 'keys', `shard-${shard}`),
      shard,
      shards,
      masterKeys: [MASTER],
      indexHeapBytes: 16 << 20,
      clock,
      log: store === 'heap' ? new MemoryLog(this.#stores[shard]!) : undefined,
      database,
      wrapLog: (inner) => {
        crash = new CrashLog(inner, onCrash);
        faults = new FaultyLog(crash);
        return faults;
      },
      sealGrains,
      onFatal: (error) => {
        if (generation === this.#generation && !this.#isDead && crash?.isDead !== true) this.#bug ??= error;
      },
    });
    assert(crash !== undefined && faults !== undefined, 'an open engine has its log');
    const direct = directShard(shard, engine, { clock });
    const orDeath = <T>(answer: Promise<T>): Promise<T> => {
      answer.catch(() => undefined);
      return Promise.race([answer, death.promise]);
    };
    const caller: RawShardCaller = {
      call: (...call) => orDeath(direct.call(...call)),
      callRaw: (...call) => orDeath(direct.callRaw(...call)),
    };
    this.#shards[shard] = { engine, faults, crash, caller };
  }
}

/** One turn of the event loop: committed calls are answered, scheduled work runs. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
