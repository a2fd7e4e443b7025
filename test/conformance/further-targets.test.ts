// Runs the suite on servers that are started in rarer ways: without worker threads, and on PostgreSQL as a node that answers by
// a copy. gRPC asks the same of a database as HTTP.
import { NO_POSTGRES } from '../support/postgres.ts';
import type { Target } from './driver.ts';
import { HttpClient } from './http-client.ts';
import { httpTarget } from './http-driver.ts';
import { overGrpc, runSuite, sharedServer } from './suite.ts';

/**
 * A node that answers by a copy of the control log, and passes on what that is not enough for. Its data lie in a database,
 * whose shards it shares with the node that owns the log.
 */
async function byCopy(partitions: number): Promise<Target> {
  const { http, key } = await sharedServer('copy', { shards: '4', workers: '1' }, { throughCopy: true });
  return httpTarget('HTTP, by a copy of the control log', new HttpClient(http, key), partitions);
}

runSuite({
  'gRPC without worker threads, 2 partitions': () =>
    overGrpc(sharedServer('no workers', { http: 'node', shards: '4', workers: '0' }), 2, '0'),
  ...(NO_POSTGRES === undefined
    ? { 'HTTP, 2 partitions, on PostgreSQL, by a copy of the control log': () => byCopy(2) }
    : {}),
});
