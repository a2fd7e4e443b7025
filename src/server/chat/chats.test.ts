// How turns are served: at the pace of the client, until it goes away or the server ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import { EVENT_BLIND_BYTES_MAX } from '../../engine/base/limits.ts';
import { fakeRequest } from '../http/fake-request.ts';
import { type HttpRequest, RequestAborted } from '../http/listener.ts';
import { Chats } from './chats.ts';
import type { ChatEvent } from './event.ts';

const text = (delta: string): ChatEvent => ({ event: 'text', data: { delta } });

/** A client that takes a write when the test says so. `unreported`: writes up to this size are taken at once. */
function client(unreported = 0) {
  const abort = new AbortController();
  const written: string[] = [];
  const waiting: { readonly take: () => void; readonly leave: (error: Error) => void }[] = [];
  let isEnded = false;
  const request: HttpRequest = {
    ...fakeRequest({}),
    aborted: abort.signal,
    cut: () => go(),
    stream: () => ({
      unreportedBytes: unreported,
      write: (chunk) => {
        written.push(chunk.toString());
        if (chunk.length <= unreported) return Promise.resolve();
        return new Promise((resolve, reject) => waiting.push({ take: resolve, leave: reject }));
      },
      end: () => {
        isEnded = true;
      },
    }),
  };
  const go = (): void => {
    abort.abort();
    for (const { leave } of waiting.splice(0)) leave(new RequestAborted());
  };
  return { request, written, isEnded: () => isEnded, go, take: () => waiting.shift()?.take() };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const errors: unknown[] = [];
const opened = () => new Chats({ error: ((...what: unknown[]) => void errors.push(what)) as never });

test('nothing more is asked of a turn until the client has taken what it was sent', async () => {
  let pulled = 0;
  const events = async function* () {
    for (; pulled < 100; pulled++) yield text('x'.repeat(1_000));
  };
  const chats = opened();
  const { request, written, take, go } = client();
  chats.open({ key: undefined, events }, request, []);
  await settled();
  assert.deepEqual([pulled, written.length], [0, 1]);
  take();
  await settled();
  assert.deepEqual([pulled, written.length], [1, 2]);
  go();
  await settled();
  assert.equal(chats.size, 0);
});

test('short writes, whose fate a listener does not report, are bounded', async () => {
  let pulled = 0;
  const events = async function* () {
    for (; pulled < 100_000; pulled++) yield text('word');
  };
  const { request, written, go } = client(16_384);
  const chats = opened();
  chats.open({ key: undefined, events }, request, []);
  while ((written.at(-1)?.length ?? 0) < 16_384) await settled();
  assert.ok(written.join('').length < EVENT_BLIND_BYTES_MAX + 40_000);
  go();
  await settled();
  assert.equal(chats.size, 0);
});

test('a turn learns that its client is gone, and its key is free again', async () => {
  let reason: unknown;
  const events = async function* (signal: AbortSignal) {
    yield text('one');
    await new Promise<void>((_, reject) => {
      signal.addEventListener('abort', () => {
        reason = signal.reason;
        reject(signal.reason as Error);
      });
    });
  };
  const chats = opened();
  const { request, go, isEnded } = client(16_384);
  chats.open({ key: 'k', events }, request, []);
  assert.throws(() => chats.check('k'), { code: 'VAL-E005' });
  chats.check('other');
  await settled();
  go();
  await settled();
  assert.ok(reason instanceof RequestAborted);
  assert.equal(isEnded(), false);
  chats.check('k');
});

test('a thread has one turn at a time, and is free before its client reads the last event', async () => {
  const chats = opened();
  for (const [last, event] of [
    [async () => undefined, 'done'],
    [() => Promise.reject(new EngineError('LLM-E002', 'no answer')), 'error'],
  ] as const) {
    const release = chats.claim('1 thr_a');
    assert.throws(() => chats.claim('1 thr_a'), { code: 'HRN-E010' });
    chats.claim('1 thr_b')();
    const events = async function* (): AsyncGenerator<ChatEvent> {
      yield text('one');
      assert.throws(() => chats.claim('1 thr_a'), { code: 'HRN-E010' });
      await last();
      yield { event: 'done', data: {} };
    };
    const { request, written, take, go } = client();
    chats.open({ key: undefined, release, events }, request, []);
    await settled();
    take();
    await settled();
    assert.match(written.at(-1)!, new RegExp(`^event: ${event}`), 'which the client has not taken');
    const next = chats.claim('1 thr_a');
    go();
    await settled();
    assert.throws(() => chats.claim('1 thr_a'), { code: 'HRN-E010' }, 'the end of one turn gives back its own claim');
    next();
  }
  const release = chats.claim('1 thr_a');
  await chats.close();
  const refused = { key: undefined, release, events: async function* () {} };
  assert.throws(() => chats.open(refused, client().request, []), { code: 'STO-E002' });
  chats.claim('1 thr_a')();
});

test('a failure is the last event; a bug is told as such, without its words', async () => {
  for (const [thrown, code, logged] of [
    [new EngineError('LLM-E002', 'no answer'), 'LLM-E002', 0],
    [new Error('secret'), 'SYS-E001', 1],
  ] as const) {
    errors.length = 0;
    const events = async function* () {
      yield text('one');
      throw thrown;
    };
    const { request, written, isEnded } = client(16_384);
    opened().open({ key: undefined, events }, request, []);
    await settled();
    assert.match(written.at(-1)!, new RegExp(`^event: error\ndata: {"code":"${code}"`));
    assert.doesNotMatch(written.at(-1)!, /secret/);
    assert.deepEqual([isEnded(), errors.length], [true, logged]);
  }
});

test('an ending server tells its clients, and takes no turn any more', async () => {
  const events = async function* (signal: AbortSignal) {
    yield text('one');
    await new Promise<void>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  };
  const chats = opened();
  const { request, written } = client(16_384);
  chats.open({ key: undefined, events }, request, []);
  await settled();
  await chats.close();
  assert.match(written.at(-1)!, /^event: error\ndata: {"code":"SYS-E005"/);
  assert.throws(() => chats.check(undefined), { code: 'STO-E002' });
});
