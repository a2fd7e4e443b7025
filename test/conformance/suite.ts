// The suite, on the targets of a file, and the servers that they share.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { ADD } from './cases/add.ts';
import { CAL } from './cases/cal.ts';
import { CALLERS } from './cases/callers.ts';
import type { Case } from './cases/case.ts';
import { LIST } from './cases/list.ts';
import { RECALL } from './cases/recall.ts';
import { REMOVAL } from './cases/removal.ts';
import { STAGES } from './cases/stages.ts';
import { VERSIONS } from './cases/versions.ts';
import type { Target } from './driver.ts';
import { GrpcClient } from './grpc-client.ts';
import { grpcTarget } from './grpc-driver.ts';
import { HttpClient } from './http-client.ts';

const CASES: readonly Case[] = [...ADD, ...LIST, ...RECALL, ...STAGES, ...VERSIONS, ...REMOVAL, ...CALLERS, ...CAL];

/** gRPC is served beside either listener. */
const SERVERS = new Map<string, Promise<TestServer>>();

/** The server of the name, which starts when the first target asks for it and ends after the last. */
export function sharedServer(name: string, ...start: Parameters<typeof startTestServer>): Promise<TestServer> {
  const running = SERVERS.get(name) ?? startTestServer(...start);
  SERVERS.set(name, running);
  return running;
}

export async function overGrpc(
  running: Promise<TestServer>,
  partitions: number,
  workers: '0' | '1' = '1',
): Promise<Target> {
  const { http, grpc, key } = await running;
  const client = GrpcClient.open(grpc, key);
  return grpcTarget(`gRPC, ${workers} workers`, client, new HttpClient(http, key), partitions);
}

export function runSuite(targets: Readonly<Record<string, () => Promise<Target>>>): void {
  after(async () => {
    for (const running of SERVERS.values()) {
      const { errors, close } = await running;
      await close();
      assert.deepEqual(errors, []);
    }
    SERVERS.clear();
  });

  // At once, since their memories are independent: writes form groups as in production.
  for (const [name, open] of Object.entries(targets))
    describe(name, { concurrency: 8 }, () => {
      let target: Target;
      before(async () => {
        target = await open();
      });
      after(() => target.close());
      for (const { name: what, needs = [], options, run } of CASES)
        test(what, async (t) => {
          const missing = needs.find((feature) => !target.features.has(feature));
          if (missing !== undefined) return t.skip(`there is no "${missing}" here`);
          await run(await target.memory(options), target);
        });
    });
}
