// A memory and a call, give me the answer: finds the shards of the memory's partitions and asks one or all.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../engine/base/errors.ts';
import { PACK_ITEMS_MAX } from '../engine/base/limits.ts';
import { inTree } from '../engine/recall/filter/scope.ts';
import { Fan, type RouterContext, valuesOf } from './gather/fan.ts';
import { GATHER } from './gather/gather.ts';
import { sumOf } from './gather/merge.ts';
import { shardOf } from './gather/placement.ts';
import type { GatherTools } from './gather/tools.ts';
import { GatherRoom } from './gather-room.ts';
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

export interface RouterOptions extends Pick<GatherTools, 'placementOf'> {
  /** By shard index. */
  readonly shards: readonly RawShardCaller[];
  /** Settings of a memory by its number, as the control log has them; undefined: there is no such memory. */
  readonly settingsOf: (memory: number) => MemorySettings | undefined;
  /** The workers' own, for memories of several partitions, whose calls have to be looked into here. */
  readonly codecs?: ShardCodecs;
}

export class Router {
  readonly #options: RouterOptions;
  readonly #turns = new Turns();
  readonly #room = new GatherRoom();
  readonly #health: ShardsHealth;

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#health = new ShardsHealth({
      shards: options.shards.length,
      ask: (shard) => this.callShard(shard, 'health', {}),
      unreachable: (shard, reason) => ({ ...UNREACHABLE, shard, reasons: [reasonOf(reason)] }),
    });
  }

  get shardCount(): number {
    return this.#options.shards.length;
  }

  /** Tells the shards of these memories, as many at a time as one batch holds. Rejects with the first error. */
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
   * Calls a memory. Rejects with EngineError: MEM-E003 for an unknown memory, else what the shards say. `attachMemory`
   * goes by the settings in its input, so that a memory can be attached before it is known, or with new settings.
   */
  call<M extends MemoryMethod>(method: M, context: RouterContext, input: Input<M>): Promise<Output<M>> {
    const settings =
      method === 'attachMemory'
        ? // The input of this method, which TypeScript does not follow through M.
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
    return GATHER[method](new Fan(context, shards), askedOf(settings, method, input), tools);
  }

  /**
   * Calls a memory with wire bytes, which are read by the worker when the memory has one partition. Resolves with the
   * reply's wire bytes, a view of a larger buffer.
   */
  async callRaw(codecNumber: number, context: RouterContext, bytes: Uint8Array): Promise<RawReply> {
    const settings = this.#options.settingsOf(context.memory);
    if (settings === undefined) throw new EngineError('MEM-E003');
    const first: CallContext = { ...context, partition: 0 };
    const codec = this.#options.codecs?.[codecNumber];
    if (settings.partitions === 1) {
      const lane = codec?.reads === true ? 'read' : 'write';
      return this.#shardOf(context.memory, 0).callRaw(codecNumber, first, bytes, lane);
    }
    if (codec === undefined) throw new EngineError('SYS-E001', `codec ${codecNumber} is unknown to the router`);
    const { call, context: changed = first, encode } = codec.decode(bytes, first);
    return encode(await this.#callDecoded(call, changed));
  }

  #callDecoded(call: Call, { partition: _, ...context }: CallContext): Promise<unknown> {
    if (isShardWide(call)) throw new EngineError('SYS-E001', `${call.method} is not a call of a memory`);
    return this.call(call.method, context, call.input);
  }

  /** One call on one partition alone, for what goes through them one after the other. */
  callPartition<M extends MemoryMethod>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>> {
    const settings = this.#options.settingsOf(context.memory);
    if (settings === undefined) return Promise.reject(new EngineError('MEM-E003'));
    if (context.partition >= settings.partitions) {
      return Promise.reject(new EngineError('VAL-E001', `the memory has ${settings.partitions} partitions`));
    }
    return this.#shardOf(context.memory, context.partition).call(method, context, input);
  }

  /** Calls one shard as a whole. */
  callShard<M extends keyof ShardWideCalls>(shard: number, method: M, input: Input<M>): Promise<Output<M>> {
    const caller = this.#options.shards[shard];
    if (caller === undefined) return Promise.reject(new EngineError('VAL-E001', 'no such shard'));
    return caller.call(method, SYSTEM, input);
  }

  /** How each shard is; one whose worker does not answer is not ok, for the reason it gives. Never rejects. */
  health(): Promise<readonly ShardHealth[]> {
    return this.#health.all();
  }

  /** What a full check of each shard found. */
  async verify(): Promise<readonly VerifyReport[]> {
    return valuesOf(await this.#eachShard((shard) => this.callShard(shard, 'verify', {})));
  }

  /** Copies every shard: data into `directory/data/shard-N`, keys into `directory/keys/shard-N`. Bytes written. */
  async backup(directory: string): Promise<number> {
    const copies = await this.#eachShard(async (shard) => {
      const dataDirectory = join(directory, 'data', `shard-${shard}`);
      const keysDirectory = join(directory, 'keys', `shard-${shard}`);
      await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
      await mkdir(keysDirectory, { recursive: true, mode: 0o700 });
      return this.callShard(shard, 'backup', { dataDirectory, keysDirectory });
    });
    return sumOf(valuesOf(copies), 'bytes');
  }

  /** Wraps the keys of every shard under the first of these master keys. Resolves to how many were wrapped anew. */
  async rewrapKeys(masterKeys: readonly Uint8Array[]): Promise<number> {
    const answers = await this.#eachShard((shard) => this.callShard(shard, 'rewrapKeys', { masterKeys }));
    return sumOf(valuesOf(answers), 'rewrapped');
  }

  #eachShard<T>(call: (shard: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
    return Promise.allSettled(this.#options.shards.map((_, shard) => call(shard)));
  }

  #shardOf(memory: number, partition: number): RawShardCaller {
    const { shards } = this.#options;
    return shards[shardOf(memory, partition, shards.length)]!;
  }
}

/** A recall's scope path is looked up here, as its stages run here. SCP-E001. */
function askedOf<M extends MemoryMethod>(settings: MemorySettings, method: M, input: Input<M>): Input<M> {
  if (method !== 'recall') return input;
  const query = input as Input<'recall'>; // the input of this method, which TypeScript does not follow through M
  return { ...query, filter: inTree(settings, query.filter) } as Input<M>;
}

/** What the server asks of itself. */
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
