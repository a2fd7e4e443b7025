import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { ERROR_MEANINGS, type ErrorCode } from '../../engine/base/errors.ts';
import { anyText } from '../../engine/base/testing/any-text.ts';
import { stringifyJson } from '../../engine/grain/api/json.ts';
import { textOfObject } from '../../engine/grain/api/json-text.ts';
import { type CallContext, METHODS } from '../protocol.ts';
import { batchesRun, laneOf, ReplyWriter, RequestWriter, readReplies, readRequests, skipRequest } from './pack.ts';
import { FORM_EXACT, FORM_MESSAGEPACK, packReply, packValue, unpackValue } from './value.ts';

/** A record with Object's prototype, as values from another thread have it. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record<T>(model, { noNullPrototype: true }) as fc.Arbitrary<T>; // Without `requiredKeys` all are there.
// Any code unit, so lone surrogates too.
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((c) => String.fromCharCode(c)) }),
);
const key = fc.oneof(
  text,
  fc.constantFrom('__proto__', 'constructor', 'toJSON', 'hasOwnProperty', '__keys__', '0', ''),
);
const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: false }),
  fc.constantFrom(-0, 2 ** 53, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 63, Number.MAX_VALUE, Number.MIN_VALUE),
);
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, undefined),
    number,
    text,
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 6 }).map((entries) => Object.fromEntries(entries)),
  ),
}));
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const context: fc.Arbitrary<CallContext> = fc
  .record({
    memory: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    partition: fc.integer({ min: 0, max: 63 }),
    actor: text,
    requestId: text,
    deadlineMs: optional(fc.integer({ min: 0, max: 2 ** 45 })),
    namespace: optional(text),
    userId: optional(text),
    reason: optional(anyText({ maxLength: 300 })),
    purpose: optional(text),
    idempotency: optional(record({ key: text, bodyHash: text })),
    repeats: optional(fc.constant(true as const)),
    strict: optional(fc.constant(true as const)),
  })
  .map((made) => {
    const { memory, partition, actor, requestId } = made;
    const members = Object.entries(made).filter(([, member]) => member !== undefined);
    return { memory, partition, actor, requestId, ...Object.fromEntries(members) };
  });
const bytes = fc.uint8Array({ maxLength: 400 });
const address = record({ id: fc.integer({ min: 0, max: 2 ** 32 - 1 }), shard: fc.integer({ min: 0, max: 63 }) });

test('a value reads back exactly', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const { form, bytes } = packValue(value);
      assert.deepStrictEqual(unpackValue(form, Buffer.from(bytes)), value);
    }),
    { numRuns: runs(2_000) },
  );
});

test('values that JSON can hold and MessagePack would change travel in the exact form', () => {
  const odd: unknown[] = [-0, JSON.parse('{"a":{"__proto__":{"x":1}}}'), ['\ud800'], { '\udc00': 1 }];
  for (const value of odd) {
    const packed = packValue(value);
    assert.equal(packed.form, FORM_EXACT);
    assert.deepStrictEqual(unpackValue(packed.form, packed.bytes), value);
  }
  assert.equal(packValue({ a: [1, 'x', null, 2n ** 63n] }).form, FORM_MESSAGEPACK);
});

test('a grain with heavy fields leaves a worker with its sentence, and another without', () => {
  const heavy = { content: 'apple', role: 'user', data: Array.from({ length: 100 }, (_, i) => i) };
  const light = { content: 'pear' };
  const grains = [heavy, light].map((fields) => ({ grainType: 'event', fields }));
  const { form, bytes } = packReply({ grains });
  const read = unpackValue(form, bytes) as { readonly grains: readonly { readonly text?: string }[] };
  assert.deepEqual(
    read.grains.map(({ text }) => text),
    ['user: apple', undefined],
  );
});

test('heavy fields of grains in a reply are kept as text, and read as their values', () => {
  const wide = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`f${at}`, [at]]));
  const views = [
    { subject: 'Ada', n: 2n ** 63n, minus: -0, odd: '\ud800', ['__proto__']: 'p', long: 'y'.repeat(4_000) },
    { ...wide, subject: 'Ada', tags: ['a', 'b'], content: 'x'.repeat(500), importance: null },
  ].map((fields) => ({ hash: 'ff', fields }));
  const output = { hits: views.map((grain) => ({ score: -0.5, grain })), total: 2 };
  const packed = packReply(output);
  assert.equal(packed.form, FORM_MESSAGEPACK);
  const back = unpackValue(packed.form, Buffer.from(packed.bytes)) as typeof output; // made above
  for (const [at, { grain }] of back.hits.entries()) {
    const { fields } = views[at]!;
    assert.equal(textOfObject(grain.fields)?.toString(), stringifyJson(fields));
    for (const name of ['subject', 'tags', 'content', 'importance', 'object'] as const)
      assert.deepEqual(Reflect.get(grain.fields, name), Reflect.get(fields, name));
    assert.equal(Object.hasOwn(grain.fields, 'object'), false);
    assert.equal(stringifyJson({ ...grain.fields }), stringifyJson(fields));
  }
  assert.equal(stringifyJson(back), stringifyJson(output));
  // A value that was read may be sent again, in either form.
  for (const value of [back, { back, minus: -0 }]) {
    const again = packValue(value);
    assert.equal(stringifyJson(unpackValue(again.form, Buffer.from(again.bytes))), stringifyJson(value));
  }
  assert.equal(packReply({ score: -0, grains: views }).form, FORM_EXACT);
  const light = packReply({ fields: { a: [1, 'x'] } });
  assert.equal(textOfObject(Reflect.get(Object(unpackValue(light.form, light.bytes)), 'fields')), undefined);
});

test('bytes of any size read back as bytes', () => {
  for (const length of [0, 1, 255, 256, 65_536, 1_048_577]) {
    const blob = new Uint8Array(length).map((_, index) => index % 251);
    for (const value of [{ blob }, { blob, minus: -0 }]) {
      const packed = packValue(value);
      // Made by the two lines above.
      const back = unpackValue(packed.form, Buffer.from(packed.bytes)) as { blob: Uint8Array };
      assert.ok(back.blob instanceof Uint8Array && Buffer.from(blob).equals(back.blob));
    }
  }
});

test('requests read back in order, typed or raw, without cancelled ones', () => {
  const request = record({
    address,
    context,
    body: fc.oneof(
      record({ method: fc.constantFrom(...METHODS), input: anyValue }),
      record({ codec: fc.integer({ min: 1, max: 255 }), raw: bytes }),
    ),
    skipped: fc.boolean(),
  });
  const writer = new RequestWriter('write');
  fc.assert(
    fc.property(fc.array(request, { maxLength: 20 }), (requests) => {
      const places = requests.map(({ address, context, body }) =>
        'method' in body
          ? writer.append(address, body.method, context, body.input)
          : writer.appendRaw(address, body.codec, context, body.raw),
      );
      assert.equal(writer.count, requests.length);
      const length = writer.byteLength;
      const message = writer.take();
      assert.equal(message.byteLength, length);
      requests.forEach(({ skipped }, index) => {
        if (skipped) skipRequest(message, places[index]!);
      });
      const left = [...readRequests(message, (_, error) => assert.ifError(error))];
      const expected = requests.filter(({ skipped }) => !skipped);
      assert.equal(left.length, expected.length);
      expected.forEach(({ address, context, body }, index) => {
        const { id, shard, context: contextBack, body: bodyBack } = left[index]!;
        assert.deepStrictEqual({ id, shard }, address);
        assert.deepStrictEqual(contextBack, context);
        if ('raw' in bodyBack) assert.deepStrictEqual({ ...bodyBack, raw: new Uint8Array(bodyBack.raw) }, body);
        else assert.deepStrictEqual(bodyBack, body);
      });
    }),
  );
});

test('replies read back in order, with the number of batches that have run', () => {
  const error = record({
    code: fc.constantFrom(...(Object.keys(ERROR_MEANINGS) as ErrorCode[])), // Its keys are the codes.
    message: text,
    details: fc.array(record({ field: text, issue: text }), { maxLength: 3 }),
    retryable: fc.boolean(),
  });
  const id = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  const reply = fc.oneof(
    record({ id, kind: fc.constant('value' as const), value: anyValue }),
    record({ id, kind: fc.constant('raw' as const), raw: record({ bytes, notes: fc.string({ unit: 'grapheme' }) }) }),
    record({ id, kind: fc.constant('error' as const), error }),
  );
  const writer = new ReplyWriter();
  fc.assert(
    fc.property(fc.array(reply, { maxLength: 20 }), fc.nat({ max: 3 }), fc.nat({ max: 3 }), (replies, read, write) => {
      for (const one of replies) {
        if (one.kind === 'value') writer.appendValue(one.id, one.value);
        else if (one.kind === 'raw') writer.appendRaw(one.id, one.raw);
        else writer.appendError(one.id, one.error);
      }
      const message = writer.take({ read, write });
      assert.deepEqual([batchesRun(message, 'read'), batchesRun(message, 'write')], [read, write]);
      const back = [...readReplies(message, (_, error) => assert.ifError(error))].map((one) =>
        one.kind === 'raw' ? { ...one, raw: { ...one.raw, bytes: new Uint8Array(one.raw.bytes) } } : one,
      );
      assert.deepStrictEqual(back, replies);
    }),
  );
});

test('a message larger than any before is carried, and the writer can be used again', () => {
  const writer = new RequestWriter('read');
  const context = { memory: 1, partition: 0, actor: 'a', requestId: 'r' };
  const raw = Buffer.alloc(9 * 1_048_576, 5);
  writer.appendRaw({ id: 1, shard: 2 }, 3, context, raw);
  const message = writer.take();
  assert.equal(laneOf(message), 'read');
  const [request] = [...readRequests(message, (_, error) => assert.ifError(error))];
  assert.ok(request !== undefined && 'raw' in request.body && raw.equals(request.body.raw));
  assert.equal(writer.count, 0);
  writer.append({ id: 2, shard: 2 }, 'get', context, { hash: 'x' });
  assert.deepEqual([...readRequests(writer.take(), (_, error) => assert.ifError(error))][0]?.body, {
    method: 'get',
    input: { hash: 'x' },
  });
});

test('a long message leaves without a copy of it', (t) => {
  const copied = t.mock.method(ArrayBuffer.prototype, 'slice');
  const taken = (body: Buffer): ArrayBuffer => {
    const writer = new RequestWriter('write');
    writer.appendRaw({ id: 1, shard: 2 }, 3, { memory: 1, partition: 0, actor: 'a', requestId: 'r' }, body);
    return writer.take();
  };
  taken(Buffer.alloc(100));
  assert.equal(copied.mock.callCount(), 1, 'the buffer of a short one is kept');
  const body = Buffer.alloc(16 * 1_048_576, 7);
  const message = taken(body);
  assert.equal(copied.mock.callCount(), 1);
  const [request] = readRequests(message, assert.fail);
  assert.ok(request !== undefined && 'raw' in request.body && body.equals(request.body.raw));
});
