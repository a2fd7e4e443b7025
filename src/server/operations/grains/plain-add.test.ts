// A shard reads an add of one plain grain in its own way. Calls, errors, warnings, blobs and index entries are those of the
// general path.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contextOf, openShard, settingsOf } from '../../../../test/support/shard.ts';
import { StepClock } from '../../../../test/support/step-clock.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import type { CallContext } from '../../../engine/calls/context.ts';
import type { AddItem } from '../../../engine/calls/grain.ts';
import { PlainItem } from '../../../engine/grain/plain/plain-item.ts';
import type { Output } from '../../../shards/protocol.ts';
import { CODECS, codecOf } from '../codecs.ts';
import { add } from './add.ts';
import { belief, elements, itemOf, items, member, odd, white } from './plain-requests.fixture.ts';

const GRPC = CODECS[codecOf(add.grpc!) ?? 0]!; // the row has a face for gRPC
const HTTP = CODECS[codecOf(add.http[0]!) ?? 0]!; // and one for HTTP
const context = contextOf(1);

type Codec = typeof GRPC;
type AddInput = AddItem & { readonly sync: boolean };

interface Read {
  readonly input?: AddInput;
  readonly rest?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly details: unknown };
}

/** The call that the codec reads and its replies, or the error. */
function read(codec: Codec, request: Buffer, inShard: boolean, strict = false): Read {
  try {
    const { call, encode, context: changed } = codec.decode(request, { ...context, strict } as CallContext, inShard);
    assert.equal(call.method, 'add');
    const replies = [false, true].map((duplicate) => {
      const { bytes, notes } = encode({ hash: '0'.repeat(64), duplicate, warnings: duplicate ? ['w'] : [] });
      return { bytes: Buffer.from(bytes).toString('hex'), notes };
    });
    return { input: call.input as AddInput, rest: { changed, replies } };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { error: error.toWire() as NonNullable<Read['error']> };
  }
}

/** Compares both ways to read. Returns true when the grain was read as plain. */
function compare(codec: Codec, request: Buffer, strict = false): boolean {
  const general = read(codec, request, false, strict);
  const shard = read(codec, request, true, strict);
  assert.deepEqual(shard.error, general.error);
  assert.deepEqual(shard.rest, general.rest);
  const data = ({ input }: Read) =>
    input && { grainType: input.grainType, fields: input.fields, sync: input.sync, related: input.related };
  assert.deepEqual(data(shard), data(general));
  return shard.input instanceof PlainItem;
}

/** Asserts that both kinds came often. */
function tried(plain: readonly boolean[], least: number): void {
  const count = plain.filter(Boolean).length;
  assert.ok(count > least && plain.length - count > least, `${count} plain of ${plain.length}`);
}

test('a shard reads what the general path reads over gRPC, with the same errors and warnings', () => {
  const found: boolean[] = [];
  fc.assert(
    fc.property(items, fc.nat(9), odd, fc.boolean(), (item, isOdd, more, strict) => {
      found.push(compare(GRPC, isOdd === 0 ? Buffer.concat([item, more]) : item, strict));
    }),
    { numRuns: 1_500 },
  );
  tried(found, 200);
});

const flat = fc
  .tuple(
    fc.constantFrom<object>(
      belief,
      { ...belief, confidence: 0.5, tags: ['a'], user_id: 'u' },
      { ...belief, object: 'thé 茶', namespace: 'n', created_at: 1_700_000_000 },
    ),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant({}) },
      fc.constantFrom<object>(
        { grain_type: 'belief' },
        { grain_type: 'event' },
        { fields: null },
        { fields: {} },
        { options: { sync: true } },
        { purpose: 'support' },
        { mood: 'calm' },
        { subject: 1 },
        { object: null },
        { usr_id: 'x' },
      ),
    ),
    fc.boolean(),
  )
  .map(([fields, more, isFirst]) => JSON.stringify(isFirst ? { ...more, ...fields } : { ...fields, ...more }));
const bodies = fc
  .tuple(
    fc.oneof(
      flat,
      elements,
      fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
    ),
    white,
    white,
  )
  .map(([body, before, after]) => Buffer.from(before + body + after));

test('a shard reads what the general path reads over HTTP, with the same errors and warnings', () => {
  const found: boolean[] = [];
  fc.assert(
    fc.property(bodies, fc.boolean(), (body, strict) => {
      found.push(compare(HTTP, body, strict));
    }),
    { numRuns: 1_500 },
  );
  tried(found, 200);
});

test('requests that are cut off or changed are read alike', () => {
  const text = JSON.stringify({ ...belief, object: 'thé 茶', confidence: 0.25, tags: ['a', 'b'] });
  const wholes: [Codec, Buffer][] = [
    [GRPC, itemOf('belief', text)],
    [HTTP, Buffer.from(text)],
    [HTTP, Buffer.from(`{"grain_type":"event","fields":{"content":"hello, é漢😀","session_id":"s"}}`)],
  ];
  for (const [codec, whole] of wholes) {
    assert.ok(compare(codec, whole));
    for (let end = 0; end < whole.length; end++) compare(codec, whole.subarray(0, end));
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        compare(codec, changed);
      }),
      { numRuns: 1_000 },
    );
  }
});

test('grains of other requests do not change what a grain is', () => {
  const texts = Array.from({ length: 1_000 }, (_, i) => ({ ...belief, object: `tea ${i}`, user_id: `user ${i % 7}` }));
  // Long requests, requests that are not plain and their neighbours share the same bytes.
  const filler = itemOf('belief', JSON.stringify({ ...belief, object: 'x'.repeat(5_000) }));
  const inputs = texts.map((fields, i) => {
    if (i % 5 === 0) read(GRPC, i % 10 === 0 ? filler : member(0x0a, 'goal'), true);
    const request = itemOf('belief', JSON.stringify(fields));
    const { input } = read(GRPC, request, true);
    request.fill(0); // the caller's bytes are used again
    return input;
  });
  for (const [i, input] of inputs.entries()) {
    assert.ok(input instanceof PlainItem);
    assert.deepEqual(input.fields, texts[i]);
    assert.equal(input.grain(1)?.fields['object'], texts[i]?.object);
  }
});

test('a text up to the bounds is the same grain in either way', () => {
  for (const length of [1, 8_000, 8_192, 16_384, 16_385, 40_000]) {
    const fields = JSON.stringify({ content: 'x'.repeat(length) });
    compare(GRPC, itemOf('event', fields));
    compare(HTTP, Buffer.from(`{"grain_type":"event","fields":${fields}}`));
  }
});

test('a plain grain is added as the general path adds it, under any policy and binding', async (t) => {
  const requests: [Codec, Buffer][] = [
    [GRPC, itemOf('belief', JSON.stringify({ ...belief, user_id: 'ada', confidence: 0.25, tags: ['phi:x', 'b'] }))],
    [GRPC, itemOf('event', JSON.stringify({ content: 'É 漢字 😀', role: 'User', session_id: 's', user_id: 'ada' }))],
    [GRPC, itemOf('event', JSON.stringify({ content: 'too late', created_at: 4_294_967_295 }))],
    [HTTP, Buffer.from(JSON.stringify({ ...belief, subject: ' Ada ', namespace: 'n' }))],
    [HTTP, Buffer.from(`{"fields":{"content":"call +49 170 1234567 or a@example.org"},"grain_type":"event"}`)],
  ];
  const bindings: { namespace?: string; userId?: string; isRepeated?: true }[] = [
    {},
    { namespace: 'own' },
    { userId: 'eve' },
    { isRepeated: true },
  ];
  const answersOf = async (inShard: boolean): Promise<unknown[]> => {
    const engine = await openShard(temporaryDirectory(t), { clock: new StepClock() });
    t.after(() => engine.close());
    const answers: unknown[] = [];
    for (const [number, action] of (['allow', 'flag', 'redact', 'block'] as const).entries()) {
      const own = contextOf(number + 1);
      await engine.write('attachMemory', own, { settings: settingsOf(number + 1) });
      const change = { overrides: { 'pii.write_action': action } };
      if (action !== 'allow') await engine.write('setPolicy', own, { change, isAdmin: true });
      for (const { isRepeated, ...bound } of bindings)
        for (const [at, [codec, request]] of requests.entries())
          for (let times = 0; times < 2; times++) {
            const { input } = read(codec, request, inShard);
            assert.equal(input instanceof PlainItem, inShard);
            const idempotency = { key: `key ${at}`, bodyHash: '0' };
            const given: CallContext = isRepeated ? { ...own, idempotency } : { ...own, ...bound };
            answers.push(
              await engine.write('add', given, input!).then(
                (output: Output<'add'>) => output,
                (error: unknown) => {
                  if (!(error instanceof EngineError)) throw error;
                  return error.toWire();
                },
              ),
            );
          }
    }
    return answers;
  };
  const general = await answersOf(false);
  assert.deepEqual(await answersOf(true), general);
  assert.ok(general.some((one) => 'code' in (one as object)));
});
