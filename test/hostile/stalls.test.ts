// The most costly known single requests, one after the other: none blocks the main thread or a worker for long, and
// each is answered by the contract. Stalls are measured in CPU time, a request that seems slow is sent again, and the
// limits grow on a slow machine (limits.ts): the aim on an idle machine is 50 ms. Before they were bounded, these
// requests took from 100 ms to some seconds.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SocketClient } from '../../src/server/http/socket-client.ts';
import { isCallersCode, Refusal } from '../conformance/contract.ts';
import { GrpcClient } from '../conformance/grpc-client.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { type StallLimits, stalledBy } from './limits.ts';
import { sessionRequests } from './sessions.ts';
import { verdict } from './verdict.ts';
import { startVictim, type Victim } from './victim.ts';
import { wideRequests } from './wide.ts';
import { pathOf, WORST_CALLS, WORST_REQUESTS, type WorstRequest } from './worst.ts';

const LIMITS: StallLimits = { mainMs: 50, workersMs: 250 };
/** The main thread does what a worker does, without worker threads. */
const WITHOUT_WORKERS: StallLimits = { ...LIMITS, mainMs: LIMITS.workersMs };
/** The work that keeps a shard busy for longest. */
const BUSIEST =
  /^(as many members as allowed: add|add: 10,000 fields|recall: (a query of 15 MB|different words)|cal: a long text)/;
/** For a worker that answers with 16 MiB. */
const ANSWERING: StallLimits = { ...LIMITS, workersMs: 500 };

describe('the worst single requests', () => {
  let victim: Victim;
  before(async () => {
    victim = await startVictim();
    await new HttpClient(victim.http, victim.key).post('/memories', { id: 'several', partitions: 2 });
  });
  after(() => victim.close());

  async function slowIn(name: string, send: () => Promise<void>, limits: StallLimits): Promise<readonly string[]> {
    return (await stalledBy(victim, limits, send)).map((slow) => `${name}: ${slow}`);
  }

  const slowOf = (requests: readonly WorstRequest[], limits: StallLimits = LIMITS): Promise<string[]> =>
    slowAt(victim, requests, limits);

  test('requests over HTTP stall no thread', async () => {
    assert.deepEqual(await slowOf(WORST_REQUESTS), []);
  });

  test('answers full of grains of ten thousand fields stall no thread for long', async () => {
    const http = new HttpClient(victim.http, victim.key);
    const requests = await wideRequests((path, json) => http.post(path, json), 2);
    await victim.stalls();
    assert.deepEqual(await slowOf(requests, ANSWERING), []);
  });

  test('a session of many grains stalls no thread', async () => {
    const http = new HttpClient(victim.http, victim.key);
    const day = { id: 'day', partitions: 2, grains: 4_000, agents: 200 };
    const requests = await sessionRequests((path, json) => http.post(path, json), day);
    await victim.stalls();
    assert.deepEqual(await slowOf(requests), []);
  });

  test('calls over gRPC stall no thread', async () => {
    const client = GrpcClient.open(victim.grpc, victim.key);
    const slow: string[] = [];
    const several = client.with({ 'x-memory-id': 'several' });
    for (const { name, rpc, message, memory } of WORST_CALLS) {
      const send = async (): Promise<void> => {
        try {
          await (memory === undefined ? client : several).askBytes(pathOf(rpc), message());
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          assert.ok(isCallersCode(error.code), `${name}: ${error.message}`);
        }
      };
      slow.push(...(await slowIn(name, send, LIMITS)));
    }
    client.close();
    assert.deepEqual(slow, []);
  });
});

test('without worker threads, requests stall the main thread for no longer than a worker', async (t) => {
  const victim = await startVictim({ workers: '0' });
  t.after(() => victim.close());
  const busiest = WORST_REQUESTS.filter(({ name }) => BUSIEST.test(name));
  assert.ok(busiest.length >= 5);
  assert.deepEqual(await slowAt(victim, busiest, WITHOUT_WORKERS), []);
});

/** Sends each request, and returns the threads that were blocked for too long. */
async function slowAt(victim: Victim, requests: readonly WorstRequest[], limits: StallLimits): Promise<string[]> {
  const slow: string[] = [];
  for (const { name, method, path, body, headers: more, contentType = 'application/json' } of requests) {
    const bytes = body?.();
    const headers = {
      ...more,
      Authorization: `Bearer ${victim.key}`,
      ...(bytes === undefined ? {} : { 'Content-Type': contentType }),
    };
    const send = async (): Promise<void> => {
      const socket = await SocketClient.open(victim.httpPort);
      const reply = await socket.exchange(method, `/api${path}`, {
        headers,
        ...(bytes === undefined ? {} : { body: bytes }),
      });
      socket.close();
      assert.ok(reply, `${name} was not answered`);
      verdict(reply, name);
    };
    slow.push(...(await stalledBy(victim, limits, send)).map((stalled) => `${name}: ${stalled}`));
  }
  return slow;
}
