// The shard interface for operations. src/shards has the router; tests use a model.

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

/** The caller and the memory; the router adds the partition. */
export type MemoryContext = Omit<CallContext, 'partition'>;

export interface Shards {
  readonly shardCount: number;
  /** Announces existing memories to the shards: once, at start, before any call on them. */
  attach(memories: readonly MemorySettings[]): Promise<void>;
  /** Makes one call on a memory, on all its partitions. Rejects with EngineError. */
  call<M extends keyof MemoryCalls>(method: M, context: MemoryContext, input: Input<M>): Promise<Output<M>>;
  /** The same for an undecoded request: `codec` is its number in operations/codecs.ts. */
  callRaw(codec: number, context: MemoryContext, bytes: Uint8Array): Promise<RawReply>;
  /** The same on one partition, for paging through partitions one after the other. */
  callPartition<M extends keyof MemoryCalls>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>>;
  /** One answer per shard. */
  health(): Promise<readonly ShardHealth[]>;
  verify(): Promise<readonly VerifyReport[]>;
  /** Copies every shard: data into `directory/data`, keys into `directory/keys`. Resolves to bytes written. */
  backup(directory: string): Promise<number>;
  /** Wraps every shard's keys under the first of these master keys. Resolves to the number wrapped again. */
  rewrapKeys(masterKeys: readonly Uint8Array[]): Promise<number>;
}
