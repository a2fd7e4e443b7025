// Starts the turns of harnesses: reads the file of executors, and settles what an earlier run of the server left.
import { readExecutors } from '../executors/executor-file.ts';
import { HostExecutors } from '../executors/host.ts';
import { HttpTools } from '../executors/http.ts';
import { HarnessTurns } from '../harness/turns/turn-service.ts';
import { isLoopback } from '../loopback.ts';
import type { Monitoring } from './monitor.ts';
import type { Placed } from './shards.ts';
import type { Starting } from './starting.ts';

/** VAL-E001 for a file of executors that is wrong. A copy that repeats removals leaves turns alone: they are the original's. */
export async function startTurns(
  { config, deps, clock, log, lifecycle }: Starting,
  { memories, router, shards }: Pick<Placed, 'memories' | 'router'> & Pick<Monitoring, 'shards'>,
): Promise<HarnessTurns> {
  const executors = readExecutors(config.executors);
  const hosts = new HostExecutors(log);
  lifecycle.opened('programs of executors', () => hosts.close());
  const http = new HttpTools({ privateToo: config.allowPrivateWebhooks, loopbackToo: isLoopback(config.host) });
  lifecycle.opened('connections to tools', () => http.close());
  const turns = new HarnessTurns({ runners: { executors, hosts, http }, shards, memories, clock, log });
  lifecycle.opened('turns of harnesses', () => turns.close());
  if (deps.repeats === true) return turns;
  const open = await Promise.all(
    Array.from({ length: router.shardCount }, (_, shard) => router.callShard(shard, 'openTurns', {})),
  );
  turns.start([...new Set(open.flatMap(({ memories: numbers }) => numbers))]);
  return turns;
}
