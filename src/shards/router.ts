// Routes each call to the shards of a memory's partitions, one or all, and returns the answer.
import { join } from 'node:path';
import { makeMissingFolder } from '../engine/base/durable-file.ts';
import { EngineError } from '../engine/base/errors.ts';
import { PACK_ITEMS_MAX, PLACES_KEPT_MAX } from '../engine/base/limits.ts';
import { onDemand } from '../engine/base/on-demand.ts';
import { inTree } from '../engine/recall/filter/scope.ts';
import { Fan, type RouterContext, valuesOf } from './gather/fan.ts';
import type * as Gather from './gather/gather.ts';
import { sumOf } from './gather/merge.ts';
import { shardOf } from './gather/placement.ts';
import { GatherRoom } from './gather/room.ts';
import type { GatherTools } from './gather/tools.ts';
import {
  type Call,
  type CallContext,
  type Input,
  MEMORY_ROWS,
  type MemoryMethod,
  type MemorySettings,
  type Output,
  type ShardHealth,
  type ShardWideCalls,
  type VerifyReport,
} from './protocol.ts';
import { ShardsHealth } from './shard-health.ts';
import type { RawShardCaller } from './transport/client.ts';
import type { RawReply, ShardCodecs } from './transport/codec.ts';
import { Turns } from './turns.ts';

/** Recalls over several partitions end here, so this is a large part of the engine, which other deployments never use. */
const gathering = onDemand<typeof Gather>(import.meta.url, './gather/gather');

export interface RouterOptions extends Pick<GatherTools, 'placementOf'> {
  /** Indexed by shard number. */
  readonly shards: readonly RawShardCaller[];
  /** The memory's settings from the control log, by memory number; undefined for an unknown memory. */
  readonly settingsOf: (memory: number) => MemorySettings | undefined;
  /** The same codecs as in the workers. The router decodes calls itself when the memory has several partitions. */
  readonly codecs?: ShardCodecs | undefined;
}

/** Something of a memory goes; `endsKeys`: with the key of a person, a scope or the memory. */
type WatchRemoval = (memory: number, removal: { readonly endsKeys: boolean }) => void;

export class Router {
  readonly #options: RouterOptions;
  readonly #turns = new Turns();
  readonly #room = new GatherRoom();
  readonly #health: ShardsHealth;
  /** The shard of each memory's first partition: finding it costs a hash. */
  readonly #places = new Map<number, number>();
  #removes: WatchRemoval = () => undefined;

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#health = new ShardsHealth({
      shards: options.shards.length,
      ask: (shard) => this.callShard(shard, 'health', {}),
      unreachable: (shard, reason) => ({ ...UNREACHABLE, shard, reasons: [reasonOf(reason)] }),
    });
  }

  /** Calls `removes` before and after each call that removes something from a memory, or changes its keys. */
  watchRemovals(removes: WatchRemoval): void {
    this.#removes = removes;
  }

  get shardCount(): number {
    return this.#options.shards.length;
  }

  /** Attaches these memories to their shards, one batch at a time. Rejects with the first error. */
  async attach(memories: readonly MemorySettings[]): Promise<void> {
    let attaching: Promise<unknown>[] = [];
    let calls = 0;
    for (const settings of memories) {
      attaching.push(this.call('attachMemory', { ...SYSTEM, memory: settings.number }, { settings }));
      calls += settings.partitions;
      if (calls < PACK_ITEMS_MAX) continue;
      valuesOf(await Promise.allSettled(attaching));
      attaching = [];
      calls = 0;
    }
    valuesOf(await Promise.allSettled(attaching));
  }

  /**
   * Calls a memory. Rejects with EngineError: MEM-E003 for an unknown memory, otherwise the shards' error.
   * `attachMemory` uses the settings in its input, because the memory may not be known yet or its settings may be new.
   */
  call<M extends MemoryMethod>(method: M, context: RouterContext, input: Input<M>): Promise<Output<M>> {
    return this.#watched(method, context, () => this.#call(method, context, input));
  }

  #watched<T>(method: MemoryMethod, { memory }: { readonly memory: number }, call: () => Promise<T>): Promise<T> {
    if (!REMOVALS.has(method)) return call();
    const removal = { endsKeys: KEY_ENDS.has(method) };
    this.#removes(memory, removal);
    return call().finally(() => this.#removes(memory, removal));
  }

  #call<M extends MemoryMethod>(method: M, context: RouterContext, input: Input<M>): Promise<Output<M>> {
    const settings =
      method === 'attachMemory'
        ? // TypeScript does not narrow the input by the method.
          (input as Input<'attachMemory'>).settings
        : this.#options.settingsOf(context.memory);
    if (settings === undefined) return Promise.reject(new EngineError('MEM-E003'));
    const { partitions } = settings;
    if (partitions === 1) {
      return this.#shardOf(context.memory, 0).call(method, { ...context, partition: 0 }, input);
    }
    const shards = Array.from({ length: partitions }, (_, partition) => this.#shardOf(context.memory, partition));
    const { placementOf } = this.#options;
    const tools = { placementOf, turns: this.#turns, room: this.#room, dedup: settings.dedup };
    return gathering().GATHER[method](new Fan(context, shards), askedOf(settings, method, input), tools);
  }

  /**
   * Calls a memory with wire bytes. The worker decodes them if the memory has one partition; otherwise the router does.
   * Resolves with the reply's wire bytes, a view of a larger buffer.
   */
  callRaw(codecNumber: number, context: RouterContext, bytes: Uint8Array): Promise<RawReply> {
    const settings = this.#options.settingsOf(context.memory);
    if (settings === undefined) return Promise.reject(new EngineError('MEM-E003'));
    const first: CallContext = { ...context, partition: 0 };
    if (settings.partitions > 1) return this.#callGathered(codecNumber, first, bytes);
    const lane = this.#options.codecs?.[codecNumber]?.reads === true ? 'read' : 'write';
    return this.#shardOf(context.memory, 0).callRaw(codecNumber, first, bytes, lane);
  }

  async #callGathered(codecNumber: number, first: CallContext, bytes: Uint8Array): Promise<RawReply> {
    const codec = this.#options.codecs?.[codecNumber];
    if (codec === undefined) throw new EngineError('SYS-E001', `codec ${codecNumber} is unknown to the router`);
    const { call, context: changed = first, encode } = codec.decode(bytes, first);
    return encode(await this.#callDecoded(call, changed));
  }

  #callDecoded(call: Call, { partition: _, ...context }: CallContext): Promise<unknown> {
    if (isShardWide(call)) throw new EngineError('SYS-E001', `${call.method} is not a call of a memory`);
    return this.call(call.method, context, call.input);
  }

  /** Calls a single partition, for work that visits partitions one after another. */
  callPartition<M extends MemoryMethod>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>> {
    const settings = this.#options.settingsOf(context.memory);
    if (settings === undefined) return Promise.reject(new EngineError('MEM-E003'));
    if (context.partition >= settings.partitions) {
      return Promise.reject(new EngineError('VAL-E001', `the memory has ${settings.partitions} partitions`));
    }
    const shard = this.#shardOf(context.memory, context.partition);
    return this.#watched(method, context, () => shard.call(method, context, input));
  }

  /** Makes a shard-wide call on one shard. */
  callShard<M extends keyof ShardWideCalls>(shard: number, method: M, input: Input<M>): Promise<Output<M>> {
    const caller = this.#options.shards[shard];
    if (caller === undefined) return Promise.reject(new EngineError('VAL-E001', 'no such shard'));
    return caller.call(method, SYSTEM, input);
  }

  /** The health of each shard. A shard whose worker does not answer is not ok, with the error as the reason. Never rejects. */
  health(): Promise<readonly ShardHealth[]> {
    return this.#health.all();
  }

  /** Runs a full verification of each shard and returns its findings. */
  async verify(): Promise<readonly VerifyReport[]> {
    return valuesOf(await this.#eachShard((shard) => this.callShard(shard, 'verify', {})));
  }

  /** Copies every shard: data into `directory/data/shard-N`, keys into `directory/keys/shard-N`. Resolves to the bytes written. */
  async backup(directory: string): Promise<number> {
    const copies = await this.#eachShard(async (shard) => {
      const dataDirectory = join(directory, 'data', `shard-${shard}`);
      const keysDirectory = join(directory, 'keys', `shard-${shard}`);
      makeMissingFolder(dataDirectory);
      makeMissingFolder(keysDirectory);
      return this.callShard(shard, 'backup', { dataDirectory, keysDirectory });
    });
    return sumOf(valuesOf(copies), 'bytes');
  }

  /** Rewraps the keys of every shard under the first of these master keys. Resolves to the number of rewrapped keys. */
  async rewrapKeys(masterKeys: readonly Uint8Array[]): Promise<number> {
    const answers = await this.#eachShard((shard) => this.callShard(shard, 'rewrapKeys', { masterKeys }));
    return sumOf(valuesOf(answers), 'rewrapped');
  }

  #eachShard<T>(call: (shard: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
    return Promise.allSettled(this.#options.shards.map((_, shard) => call(shard)));
  }

  #shardOf(memory: number, partition: number): RawShardCaller {
    const { shards } = this.#options;
    // A memory's partitions follow each other, so one place of it is enough.
    let place = this.#places.get(memory);
    if (place === undefined) {
      place = shardOf(memory, 0, shards.length);
      if (this.#places.size >= PLACES_KEPT_MAX) this.#places.clear();
      this.#places.set(memory, place);
    }
    return shards[(place + partition) % shards.length]!;
  }
}

/** Resolves the scope path of a recall, because the recall's stages run on this thread. Throws SCP-E001. */
function askedOf<M extends MemoryMethod>(settings: MemorySettings, method: M, input: Input<M>): Input<M> {
  if (method !== 'recall') return input;
  const query = input as Input<'recall'>; // TypeScript does not narrow the input by the method
  return { ...query, filter: inTree(settings, query.filter) } as Input<M>;
}

/** Calls after which copies of what a memory held are to be forgotten. */
const REMOVALS: ReadonlySet<MemoryMethod> = new Set([
  'forget',
  'eraseUser',
  'redactUser',
  'eraseScope',
  'dropMemory',
  'enforceRetention',
  'rotateKeys',
]);

/** Those among them that destroy the key of a person, a scope or a memory. */
const KEY_ENDS: ReadonlySet<MemoryMethod> = new Set(['eraseUser', 'eraseScope', 'dropMemory']);

/** The context of the server's own calls. */
const SYSTEM: CallContext = { memory: 0, partition: 0, actor: 'system', requestId: 'system' };

const UNREACHABLE: Omit<ShardHealth, 'shard' | 'reasons'> = {
  ok: false,
  pendingWrites: 0,
  tailGrains: 0,
  segments: 0,
  sequence: 0,
  sealedSequence: 0,
};

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isShardWide(call: Call): call is Call<keyof ShardWideCalls> {
  return !Object.hasOwn(MEMORY_ROWS, call.method);
}
