// A shard without a thread, for tests and the simulator. Values pass through the packer both ways, so that this
// transport changes and refuses the same values as a thread would.
import { type Clock, systemClock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { BatchRunner, isCounted } from './batch-runner.ts';
import { type RawShardCaller, ShardClient } from './client.ts';
import type { ShardCodecs } from './codec.ts';
import type { EngineDoor } from './engine-door.ts';

export interface DirectOptions {
  readonly codecs?: ShardCodecs | undefined;
  readonly clock?: Clock | undefined;
}

/** Serves `engine` as shard `shard`. An error that only a bug can cause rejects its call unchanged and ends the shard. */
export function directShard(shard: number, engine: EngineDoor, options: DirectOptions = {}): RawShardCaller {
  const { codecs = {}, clock = systemClock } = options;
  /** Its calls are rejected by then. Replies under way are dropped, like those of a dead thread. */
  let isDead = false;
  const client = new ShardClient({
    send: (message) => runner.run(message),
    clock,
    schedule: queueMicrotask,
    onUnreadable: rethrow,
  });
  const runner: BatchRunner = new BatchRunner({
    engines: new Map([[shard, engine]]),
    codecs,
    clock,
    schedule: queueMicrotask,
    send: (message) =>
      queueMicrotask(() => {
        if (isDead) return;
        client.receive(message);
        if (isCounted(message)) runner.taken(message.byteLength);
      }),
    onBug: (error, id) => {
      isDead = true;
      const dead = new EngineError('STO-E002', 'the shard met an internal error');
      // The original error, so that a test shows the bug.
      client.fail(dead, id === undefined ? undefined : { id, error });
    },
    onLost: rethrow,
  });
  return client.shard(shard);
}

/** Lets a failure that would cost only one call its answer end the shard, so that a test shows the bug. */
function rethrow(error: unknown): never {
  throw error;
}
