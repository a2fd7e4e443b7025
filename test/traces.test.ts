// Traces of a server in a process of its own, whose provider a file of `--import` registers, as docs/metrics.md shows.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { GrpcClient } from './conformance/grpc-client.ts';
import { HttpClient } from './conformance/http-client.ts';
import { eventually } from './support/eventually.ts';
import type { EndedSpan } from './support/in-memory-traces.ts';
import { type ServerProcess, startServerProcess } from './support/server-process.ts';

const PRELOAD = resolve(import.meta.dirname, 'support', 'in-memory-traces.ts');
const TRACE = 'abcdef0123456789abcdef0123456789';
const CALLER = '00f067aa0ba902b7';

let folder: string;
let file: string;
let server: ServerProcess;
let http: HttpClient;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'granary-traces-'));
  file = join(folder, 'spans.jsonl');
  server = await startServerProcess({
    directory: join(folder, 'data'),
    flags: ['--shards', '4', '--workers', '2'],
    preload: PRELOAD,
    env: { TRACES_FILE: file },
  });
  http = new HttpClient(server.http, server.key);
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const spansOf = (traceId: string): EndedSpan[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as EndedSpan)
        .filter((span) => span.traceId === traceId)
    : [];

/** The request's span and what lies under its shard calls, once `stages` have arrived. */
async function traceOf(traceId: string, stages: readonly string[]) {
  const has = (): boolean => stages.every((name) => spansOf(traceId).some((span) => span.name === name));
  await eventually(`the stages ${stages.join()} of ${traceId}`, has);
  const spans = spansOf(traceId);
  const root = spans.find(({ kind }) => kind === 1) ?? assert.fail('no span of a server');
  const calls = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
  const inner = spans.filter(({ parentSpanId }) => calls.some(({ spanId }) => spanId === parentSpanId));
  return { spans, root, calls, inner };
}

const traceparent = (digit: string, flags = '01'): string => `00-${digit}${TRACE.slice(1)}-${CALLER}-${flags}`;
const traceIdOf = (digit: string): string => `${digit}${TRACE.slice(1)}`;

test('a write over HTTP has a span in the trace of its caller, with the stages of the shard', async () => {
  const json = { subject: 'Ada', relation: 'likes', object: 'tea' };
  const headers = { traceparent: traceparent('1'), tracestate: 'vendor=x' };
  await http.call('POST', '/memories/default/add', { json, headers });
  const stages = ['queue', 'prepare', 'plan', 'commit'];
  const { root, calls, inner } = await traceOf(traceIdOf('1'), stages);
  assert.deepEqual([root.name, root.parentSpanId, root.traceState], ['add', CALLER, 'vendor=x']);
  assert.deepEqual(root.attributes, {
    'http.request.method': 'POST',
    'http.route': 'M/add',
    'http.response.status_code': 200,
  });
  assert.deepEqual(
    calls.map(({ name }) => name),
    ['shard add'],
  );
  assert.deepEqual(inner.map(({ name }) => name).toSorted(), stages.toSorted());
  for (const { name, startMs, endMs } of inner) {
    assert.ok(startMs <= endMs, name);
    // Two clocks: the worker's and the main thread's.
    assert.ok(startMs >= root.startMs - 5 && endMs <= root.endMs + 5, `${name} lies within the request`);
  }
});

test('a recall shows its stages, in each partition', async () => {
  await http.post('/memories', { id: 'four', partitions: 4 });
  const recall = ['recall statistics', 'recall candidates'];
  const json = { query: 'tea' };
  await http.call('POST', '/memories/default/recall', { json, headers: { traceparent: traceparent('2') } });
  const one = await traceOf(traceIdOf('2'), ['read', ...recall, 'recall fusion', 'recall fetch']);
  assert.equal(one.root.name, 'recall');
  await http.call('POST', '/memories/four/recall', { json, headers: { traceparent: traceparent('3') } });
  const candidates = (): number => spansOf(traceIdOf('3')).filter(({ name }) => name === 'recall candidates').length;
  await eventually('the candidates of each partition', () => candidates() >= 4);
  const { inner } = await traceOf(traceIdOf('3'), ['read', ...recall]);
  const partitions = inner
    .filter(({ name }) => name === 'recall candidates')
    .map(({ attributes }) => attributes['granary.partition']);
  assert.deepEqual(partitions.toSorted(), [0, 1, 2, 3]);
});

test('gRPC takes the trace from metadata, and a refusal has its code', async () => {
  const grpc = GrpcClient.open(server.grpc, server.key);
  await assert.rejects(grpc.call('Get', { hash: '0'.repeat(64) }, { traceparent: traceparent('4') }));
  grpc.close();
  await eventually('the span', () => spansOf(traceIdOf('4')).some(({ kind }) => kind === 1));
  const { root } = await traceOf(traceIdOf('4'), []);
  assert.equal(root.name, 'get');
  assert.deepEqual(root.attributes, {
    ...{ 'rpc.system': 'grpc', 'rpc.service': 'memory.v1.MemoryService', 'rpc.method': 'Get' },
    ...{ 'rpc.grpc.status_code': 5, 'error.type': 'MEM-E001' },
  });
  assert.equal(root.status.code, 0, "a caller's mistake is no error of the server");
});

test('a span has the status of its answer', async () => {
  await http.call('POST', '/memories', { json: { id: 'traced' }, headers: { traceparent: traceparent('7') } });
  await eventually('the span', () => spansOf(traceIdOf('7')).some(({ kind }) => kind === 1));
  const { root } = await traceOf(traceIdOf('7'), []);
  assert.deepEqual([root.name, root.attributes['http.response.status_code']], ['create_memory', 201]);
});

test('a trace that is not sampled records nothing, and an invalid header begins a new trace', async () => {
  await http.call('GET', '/memories/default/stats', { headers: { traceparent: traceparent('5', '00') } });
  await http.call('GET', '/memories/default/stats', { headers: { traceparent: 'nonsense' } });
  await http.call('GET', '/memories/default/stats', { headers: { traceparent: traceparent('6') } });
  const { root } = await traceOf(traceIdOf('6'), ['read']);
  assert.equal(root.parentSpanId, CALLER);
  assert.deepEqual(spansOf(traceIdOf('5')), []);
});
