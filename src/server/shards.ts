// What operations need of the shards. The router of src/shards is one; tests bring a model.

import type {
  CallContext,
  Input,
  MemoryCalls,
  MemorySettings,
  Output,
  ShardHealth,
  VerifyReport,
} from '../shards/protocol.ts';
import type { RawReply } from '../shards/transport/codec.ts';

/** Who asks, of which memory: the router adds the partition. */
export type MemoryContext = Omit<CallContext, 'partition'>;

export interface Shards {
  readonly shardCount: number;
  /** Tells the shards of memories that exist: once, at start, before any call on them. */
  attach(memories: readonly MemorySettings[]): Promise<void>;
  /** One call on a memory, whatever its partitions. Rejects with EngineError. */
  call<M extends keyof MemoryCalls>(method: M, context: MemoryContext, input: Input<M>): Promise<Output<M>>;
  /** The same with a request as it came: `codec` is its number in operations/codecs.ts. */
  callRaw(codec: number, context: MemoryContext, bytes: Uint8Array): Promise<RawReply>;
  /** The same on one partition alone, for what pages through them one after the other. */
  callPartition<M extends keyof MemoryCalls>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>>;
  /** One answer a shard. */
  health(): Promise<readonly ShardHealth[]>;
  verify(): Promise<readonly VerifyReport[]>;
  /** Copies every shard: data into `directory/data`, keys into `directory/keys`. Resolves to bytes written. */
  backup(directory: string): Promise<number>;
  /** Wraps every shard's keys under the first of these master keys; resolves to how many were wrapped anew. */
  rewrapKeys(masterKeys: readonly Uint8Array[]): Promise<number>;
}
