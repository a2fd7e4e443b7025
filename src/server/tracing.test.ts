// The spans of a request, over a tracer that keeps what it was asked for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as api from '@opentelemetry/api';
import { eventually } from '../../test/support/eventually.ts';
import { StageTimes } from '../engine/base/stage-times.ts';
import type { Router } from '../shards/router.ts';
import { add } from './operations/grains/add.ts';
import { StageCollector } from './stage-collector.ts';
import { Tracing } from './tracing.ts';

interface Asked {
  readonly name: string;
  readonly context: api.Context;
  readonly span: api.Span;
  ended: boolean;
}

function begun(traceFlags: api.TraceFlags) {
  const spans: Asked[] = [];
  const startSpan = (name: string, _: api.SpanOptions = {}, context: api.Context = api.ROOT_CONTEXT): api.Span => {
    const spanContext = { traceId: '1'.repeat(32), spanId: String(spans.length).padStart(16, '0'), traceFlags };
    const span = api.trace.wrapSpanContext(spanContext);
    const asked: Asked = { name, context, span, ended: false };
    span.isRecording = () => traceFlags === api.TraceFlags.SAMPLED;
    span.end = () => {
      asked.ended = true;
    };
    spans.push(asked);
    return span;
  };
  const trace = Object.assign(Object.create(api.trace) as api.TraceAPI, { getTracer: () => ({ startSpan }) });
  const times = new StageTimes();
  let questions = 0;
  const callShard = async () => {
    questions += 1;
    return times.take();
  };
  const router = { callShard, shardCount: 1 } as unknown as Pick<Router, 'callShard' | 'shardCount'>; // one method
  const tracing = new Tracing({ ...api, trace }, new StageCollector(router));
  return { tracing, times, spans, questions: () => questions };
}

const REQUEST = { operation: add, face: 'grpc', header: () => undefined } as const;

test('stages lie below their shard call, and that below the request', async () => {
  const { tracing, times, spans } = begun(api.TraceFlags.SAMPLED);
  const span = tracing.begin(REQUEST);
  const call = { requestId: 'r', partition: 0, traced: true } as const;
  for (const name of ['queue', 'prepare', 'plan', 'commit']) times.note(call, name, 1, 2);
  await span.call('add', 'r', Promise.resolve());
  span.end('ok');
  await eventually('the stages', () => spans.length === 6);
  assert.deepEqual(
    spans.map(({ name }) => name),
    ['add', 'shard add', 'queue', 'prepare', 'plan', 'commit'],
  );
  assert.ok(spans.every(({ ended }) => ended));
  const [root, shard, ...stages] = spans.map((asked) => ({ ...asked, parent: api.trace.getSpan(asked.context) }));
  assert.equal(root?.parent, undefined);
  assert.equal(shard?.parent, root?.span);
  for (const { name, parent } of stages) assert.equal(parent, shard?.span, name);
});

test('the context of a child keeps what is added to it, and drops what is deleted', async () => {
  const { tracing, spans } = begun(api.TraceFlags.SAMPLED);
  await tracing.begin(REQUEST).call('add', 'r', Promise.resolve());
  const context = spans[1]?.context ?? assert.fail('a shard call has a span');
  const key = api.createContextKey('test');
  assert.equal(context.getValue(key), undefined);
  const added = context.setValue(key, 7);
  assert.deepEqual([added.getValue(key), api.trace.getSpan(added)], [7, spans[0]?.span]);
  assert.equal(api.trace.getSpan(api.trace.deleteSpan(context)), undefined);
  assert.equal(api.trace.getSpan(context), spans[0]?.span, 'a context does not change');
});

test('a request that is not sampled begins and ends one span, and asks no shard', async () => {
  const { tracing, spans, questions } = begun(api.TraceFlags.NONE);
  const span = tracing.begin(REQUEST);
  assert.equal(span.isRecording, false);
  span.end('ok');
  assert.deepEqual(
    spans.map(({ name, ended }) => [name, ended]),
    [['add', true]],
  );
  assert.equal(questions(), 0);
});

test('a request joins the trace of its header, if the header is one of its version', () => {
  const { tracing, spans } = begun(api.TraceFlags.SAMPLED);
  const rest = `${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const isJoined = (header: string): boolean => {
    tracing.begin({ ...REQUEST, header: (name: string) => (name === 'traceparent' ? header : undefined) });
    return api.trace.getSpanContext(spans.at(-1)?.context ?? assert.fail('a span'))?.traceId === 'a'.repeat(32);
  };
  for (const header of [`00-${rest}`, `01-${rest}`, `cc-${rest}-what-comes-later`]) assert.ok(isJoined(header), header);
  for (const header of [
    `ff-${rest}`,
    `00-${rest}-more`,
    `00-${rest}-`,
    `01-${rest}.more`,
    `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
  ])
    assert.ok(!isJoined(header), header);
});
