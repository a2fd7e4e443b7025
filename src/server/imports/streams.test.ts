// Streams of progress over time: kept alive, ended after an hour, and bounded in number.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EVENT_KEEP_ALIVE_MS, IMPORT_STREAM_MS, IMPORT_STREAMS_MAX } from '../../engine/base/limits.ts';
import type { ImportJobRecord } from '../control/records.ts';
import { fakeRequest } from '../http/fake-request.ts';
import type { HttpRequest } from '../http/listener.ts';
import { ProgressStreams } from './streams.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function watched(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const clock = { now: 1_000_000, wall: 0, nowMs: () => clock.now + clock.wall, steadyMs: () => clock.now };
  const watchers = new Set<() => void>();
  const jobs = {
    watch: (_: string, changed: () => void) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
  };
  const streams = new ProgressStreams(jobs, clock);
  const state = { status: 'running' as ImportJobRecord['status'], processedChunks: 1 };
  const opened = {
    id: 'job',
    job: () => state as ImportJobRecord,
    progress: () => ({ processed_chunks: state.processedChunks }),
    whole: () => ({ status: state.status }),
  };
  const client = () => {
    const written: string[] = [];
    const gone = new AbortController();
    let isEnded = false;
    const request: HttpRequest = {
      ...fakeRequest({}),
      aborted: gone.signal,
      stream: () => ({
        unreportedBytes: 0,
        write: (chunk) => {
          written.push(chunk.toString());
          return Promise.resolve();
        },
        end: () => {
          isEnded = true;
        },
      }),
    };
    streams.open(opened, request, []);
    return { written, leave: () => gone.abort(), isEnded: () => isEnded };
  };
  const pass = async (ms: number): Promise<void> => {
    clock.now += ms;
    t.mock.timers.tick(ms);
    await settled();
  };
  const change = (): void => {
    for (const changed of watchers) changed();
  };
  return { streams, opened, clock, state, client, pass, change, watchers };
}

test('a stream is kept alive while its job stands still, and ends after an hour', async (t) => {
  const { streams, clock, client, pass, watchers } = watched(t);
  const { written, isEnded } = client();
  await settled();
  assert.deepEqual(written, ['event: progress\ndata: {"processed_chunks":1}\n\n']);
  await pass(EVENT_KEEP_ALIVE_MS);
  assert.deepEqual(written.slice(1), [': keep-alive\n\n']);
  // The operator sets the clock.
  clock.wall = 10 * IMPORT_STREAM_MS;
  for (let left = IMPORT_STREAM_MS - 2 * EVENT_KEEP_ALIVE_MS; left > 0; left -= EVENT_KEEP_ALIVE_MS)
    await pass(EVENT_KEEP_ALIVE_MS);
  assert.ok(!isEnded());
  await pass(EVENT_KEEP_ALIVE_MS);
  assert.deepEqual([written.at(-1), isEnded()], ['event: end\ndata: {}\n\n', true]);
  assert.deepEqual([streams.size, watchers.size], [0, 0]);
});

test('a change of the job is sent once, and its end ends the stream', async (t) => {
  const { streams, state, client, change } = watched(t);
  const { written, isEnded } = client();
  await settled();
  state.processedChunks = 7;
  change();
  change();
  await settled();
  state.status = 'completed';
  change();
  await settled();
  assert.deepEqual(written.slice(1), [
    'event: progress\ndata: {"processed_chunks":7}\n\n',
    'event: completed\ndata: {"status":"completed"}\n\n',
  ]);
  assert.deepEqual([isEnded(), streams.size], [true, 0]);
});

test('streams are bounded in number, and one that its client leaves makes room', async (t) => {
  const { streams, client } = watched(t);
  const clients = Array.from({ length: IMPORT_STREAMS_MAX }, client);
  assert.throws(client, { code: 'LIM-E001' });
  await settled();
  clients[0]?.leave();
  await settled();
  assert.equal(streams.size, IMPORT_STREAMS_MAX - 1);
  client();
});

test('HEAD gets the headers of a stream and no stream', (t) => {
  const { streams, opened } = watched(t);
  const request = fakeRequest({ method: 'HEAD' });
  streams.open(opened, request, [['x-request-id', 'r1']]);
  const { response } = request;
  assert.deepEqual([response?.status, response?.body, streams.size], [200, '', 0]);
  assert.match(new Map(response?.headers).get('content-type') ?? '', /^text\/event-stream/);
});
