// The retries of a webhook over restarts of its server, each after the wait of the schedule or of the receiver, by a clock
// that the test advances; and what the metrics say of them.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { readConfig } from '../src/server/config.ts';
import { makeLog } from '../src/server/log.ts';
import { startServer } from '../src/server/main.ts';
import { HttpClient } from './conformance/http-client.ts';
import { eventually } from './support/eventually.ts';
import { StepClock } from './support/step-clock.ts';
import { temporaryDirectory } from './support/temporary.ts';
import { USED_THREADS } from './support/used-threads.ts';

const MINUTE_MS = 60_000;

interface Try {
  readonly attempt: number;
  readonly delivery: string;
  readonly object: string;
}

/** A receiver whose answers the test gives, one for each try. */
async function receiver(t: TestContext) {
  const tries: Try[] = [];
  const told = { status: 503, headers: {} as Record<string, string> };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      tries.push({
        attempt: Number(request.headers['x-memory-attempt']),
        delivery: String(request.headers['x-memory-delivery']),
        object: JSON.parse(body).object,
      });
      response.writeHead(told.status, told.headers).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, tries, told }; // it listens on a port
}

/** A server over one folder, which the test starts again and again. */
function deployment(t: TestContext) {
  const dataDir = temporaryDirectory(t);
  // The clock of the main thread, which schedules deliveries. It stays ahead of that of the shards, which read deadlines.
  const clock = new StepClock(Date.now() + 60 * MINUTE_MS);
  let key = '';
  let running: Awaited<ReturnType<typeof startServer>> | undefined;
  t.after(() => running?.close());
  const start = async (): Promise<HttpClient> => {
    await running?.close();
    const flags = { dataDir, embedder: 'none', httpPort: '0', grpcPort: '0', shards: '2', workers: '1' };
    running = await startServer(readConfig(flags, {}), {
      clock,
      log: makeLog('silent', { write: () => undefined }),
      threads: USED_THREADS,
    });
    key = running.firstKey ?? key;
    return new HttpClient(running.http ?? assert.fail('no HTTP'), key);
  };
  return { clock, start };
}

/** The waits of the schedule, each with its largest jitter. */
const WAITS_MS = [10_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS].map((wait) => 1.2 * wait);

const believe = (http: HttpClient, object: string) =>
  http.post('/memories/default/add', { subject: 'ann', relation: 'likes', object });

async function metricsOf(http: HttpClient) {
  const { result } = await http.post('/memories/default/app/exec', { command: 'metrics', args: { domain: 'ops' } });
  const row = (id: string) => result.metrics.find((metric: { readonly id: string }) => metric.id === id);
  return { success: row('ops.hook_success_pct'), dead: row('ops.hook_dead_letters') };
}

test('an event is given up after its sixth try, each of which a restarted server makes', async (t) => {
  const { clock, start } = deployment(t);
  const to = await receiver(t);
  let http = await start();
  assert.deepEqual(
    [(await metricsOf(http)).success.reason, (await metricsOf(http)).dead.reason],
    ['no webhook deliveries', 'no webhook'],
  );
  clock.step(MINUTE_MS); // metrics are answered again for 30 seconds
  const { hook_id: id } = await http.post('/memories/default/hooks', { url: to.url, event_filters: ['grain_created'] });
  const hook = async () =>
    (await http.get('/memories/default/hooks')).hooks.find((one: { readonly hook_id: string }) => one.hook_id === id);
  await believe(http, 'tea');
  await eventually('the first try is noted', async () => (await hook()).attempts === 1);
  assert.equal((await metricsOf(http)).success.status, 'not_computed', 'a failed try is not the last one');
  for (const [failed, waitMs] of WAITS_MS.entries()) {
    // A restart alone makes no try: the event still waits.
    http = await start();
    const waiting = await hook();
    assert.deepEqual([waiting.attempts, to.tries.length], [failed + 1, failed + 1]);
    assert.ok(waiting.next_attempt_at * 1000 <= clock.nowMs() + waitMs);
    assert.ok(waiting.next_attempt_at * 1000 >= clock.nowMs() + waitMs / 1.5 - 1000);
    clock.step(waitMs);
    http = await start();
    await eventually(`try ${failed + 2}`, () => to.tries.length === failed + 2);
    await eventually('it is noted', async () => {
      const { attempts, dead_letters: letters } = await hook();
      return attempts === failed + 2 || letters.length === 1;
    });
  }
  const { dead_letters: letters, attempts, active } = await hook();
  assert.deepEqual(
    [letters.length, letters[0].attempts, letters[0].reason, attempts, active],
    [1, 6, 'it answered 503', 0, true],
  );
  assert.deepEqual(
    to.tries.map(({ attempt, delivery }) => [attempt, delivery]),
    [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, to.tries[0]!.delivery]),
  );
  to.told.status = 200;
  for (const object of ['coffee', 'milk', 'water']) await believe(http, object);
  await eventually('later events are delivered', async () => (await hook()).deliveries === 3);
  http = await start();
  clock.step(MINUTE_MS);
  const { success, dead } = await metricsOf(http);
  assert.deepEqual([success.value, success.samples, success.status], [75, 4, 'red']);
  assert.deepEqual([dead.value, dead.status], [1, 'yellow']);
  clock.step(25 * 60 * MINUTE_MS);
  const { success: later, dead: none } = await metricsOf(http);
  assert.deepEqual([later.reason, none.value], ['no webhook deliveries', 0], 'the window has passed');
});

test('a Retry-After holds over a restart', async (t) => {
  const { clock, start } = deployment(t);
  const to = await receiver(t);
  let http = await start();
  await http.post('/memories/default/hooks', { url: to.url, event_filters: ['grain_created'] });
  const hook = async () => (await http.get('/memories/default/hooks')).hooks[0];
  to.told.status = 429;
  to.told.headers = { 'retry-after': '1800' };
  await believe(http, 'tea');
  await eventually('the wish is noted', async () => (await hook()).attempts === 1);
  const { next_attempt_at: at } = await hook();
  assert.ok(Math.abs(at * 1000 - (clock.nowMs() + 30 * MINUTE_MS)) <= 1000, 'the wish replaces the wait');
  clock.step(29 * MINUTE_MS);
  http = await start();
  assert.deepEqual([(await hook()).next_attempt_at, to.tries.length], [at, 1]);
  clock.step(MINUTE_MS);
  to.told.status = 200;
  http = await start();
  await eventually('it is delivered', async () => (await hook()).deliveries === 1);
  assert.deepEqual(
    to.tries.map(({ attempt, object }) => [attempt, object]),
    [
      [1, 'tea'],
      [2, 'tea'],
    ],
  );
});
