// A shard reads a batch of plain grains in its own way. Calls, errors, warnings, blobs and index entries are those of the
// general path.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contextOf, openShard, settingsOf } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { BATCH_GRAINS_MAX, REQUEST_MEMBERS_MAX } from '../../../engine/base/limits.ts';
import type { CallContext } from '../../../engine/calls/context.ts';
import type { AddItem } from '../../../engine/calls/grain.ts';
import { PlainItem } from '../../../engine/grain/plain/plain-item.ts';
import { textOf } from '../../../engine/index/text/term-numbers.ts';
import { prepareAdd } from '../../../engine/write/plans.ts';
import { CODECS, codecOf } from '../codecs.ts';
import { batchAdd } from './batch-add.ts';
import { belief, elements, itemOf, items, member, odd, white } from './plain-requests.fixture.ts';

const CODEC = CODECS[codecOf(batchAdd.grpc!) ?? 0]!; // the row has a face for gRPC
const HTTP_CODEC = CODECS[codecOf(batchAdd.http[0]!) ?? 0]!; // and one for HTTP
const context = contextOf(1);
const NOW_MS = 1_764_000_000_123;

/** The message of a batch of such items. */
const batchOf = (items: readonly Buffer[]): Buffer => Buffer.concat(items.map((item) => member(0x0a, item)));
interface Read {
  readonly items?: readonly AddItem[];
  readonly rest?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The call that the codec reads and its reply to outcomes, or the error. */
function read(request: Buffer, inShard: boolean, strict = false, codec = CODEC): Read {
  try {
    const { call, encode, context: changed } = codec.decode(request, { ...context, strict } as CallContext, inShard);
    assert.equal(call.method, 'addBatch');
    const { items, ...rest } = call.input as { items: readonly AddItem[] };
    const outcomes = items.map(({ grainType }) => ({
      hash: '0'.repeat(64),
      duplicate: false,
      warnings: [],
      grainType,
    }));
    const { bytes, notes } = encode({ outcomes });
    return { items, rest: { ...rest, changed, bytes: Buffer.from(bytes).toString('hex'), notes } };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

/** Compares both ways to read. Returns the number of items that were read as plain. */
function compare(request: Buffer, strict = false, codec = CODEC): number {
  const general = read(request, false, strict, codec);
  const shard = read(request, true, strict, codec);
  assert.deepEqual(shard.error, general.error);
  assert.deepEqual(shard.rest, general.rest);
  const data = (items: readonly AddItem[] = []) => items.map(({ grainType, fields }) => ({ grainType, fields }));
  assert.deepEqual(data(shard.items), data(general.items));
  return (shard.items ?? []).filter((item) => item instanceof PlainItem).length;
}

const batches = fc
  .tuple(fc.array(items, { maxLength: 8 }), fc.nat(9), odd)
  .map(([list, isOdd, more]) => Buffer.concat([batchOf(list), ...(isOdd === 0 ? [more] : [])]));

test('a shard reads what the general path reads, with the same errors and warnings', () => {
  let plain = 0;
  let none = 0;
  fc.assert(
    fc.property(batches, fc.boolean(), (request, strict) => {
      const found = compare(request, strict);
      if (found > 0) plain += 1;
      else none += 1;
    }),
    { numRuns: 1_500 },
  );
  assert.ok(plain > 300 && none > 100, `${plain} with plain grains, ${none} without`);
});

const members = fc.oneof(
  { weight: 20, arbitrary: fc.constant('') },
  fc.constantFrom(
    ',"namespace":"n"',
    ',"tags":["x"]',
    ',"options":{"sync":true}',
    ',"purpose":"storage"',
    ',"grains":[]',
    ',"x":1',
  ),
);
const bodies = fc
  .tuple(fc.array(elements, { maxLength: 3 }), members, white)
  .map(([list, more, blank]) => Buffer.from(`${blank}{"grains":[${list.join(`,${blank}`)}]${more}}${blank}`));

test('a shard reads of a body what the general path reads, with the same errors and warnings', () => {
  let plain = 0;
  let none = 0;
  fc.assert(
    fc.property(bodies, fc.boolean(), (body, strict) => {
      if (compare(body, strict, HTTP_CODEC) > 0) plain += 1;
      else none += 1;
    }),
    { numRuns: 1_500 },
  );
  assert.ok(plain > 200 && none > 300, `${plain} with plain grains, ${none} without`);
});

test('bodies that are cut off or changed are read alike', () => {
  const whole = Buffer.from(
    JSON.stringify({
      grains: [
        { grain_type: 'belief', fields: { ...belief, confidence: 0.25, tags: ['a}', 'b{'] } },
        { fields: { content: 'hello, é漢😀"', session_id: 's' }, grain_type: 'event' },
      ],
    }).replace('\\"', "'"),
  );
  assert.equal(compare(whole, false, HTTP_CODEC), 2);
  for (let end = 0; end <= whole.length; end++) compare(whole.subarray(0, end), false, HTTP_CODEC);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
      const changed = Buffer.from(whole);
      changed[at] = byte;
      compare(changed, false, HTTP_CODEC);
    }),
    { numRuns: 2_000 },
  );
});

test('the bounds of a body are the same', () => {
  const bodyOf = (count: number, fields: object): Buffer =>
    Buffer.from(JSON.stringify({ grains: new Array(count).fill({ grain_type: 'belief', fields }) }));
  assert.equal(compare(bodyOf(BATCH_GRAINS_MAX, belief), false, HTTP_CODEC), BATCH_GRAINS_MAX);
  assert.equal(compare(bodyOf(BATCH_GRAINS_MAX + 1, belief), false, HTTP_CODEC), 0);
  // Each element counts itself, its two members, four fields and 60 tags; the body one member more.
  const tagged = { ...belief, tags: new Array(60).fill('t') };
  const allowed = Math.floor((REQUEST_MEMBERS_MAX - 1) / 67);
  assert.equal(compare(bodyOf(allowed, tagged), false, HTTP_CODEC), allowed);
  assert.equal(compare(bodyOf(allowed + 1, tagged), false, HTTP_CODEC), 0);
});

test('requests that are cut off or changed are read alike', () => {
  const whole = batchOf([
    itemOf('belief', JSON.stringify({ ...belief, confidence: 0.25, tags: ['a', 'b'] })),
    itemOf('event', '{"content":"hello, \u00e9漢😀","session_id":"s"}'),
    itemOf('belief', '{"subject":"e\u0301","relation":"b","object":"c"}'),
  ]);
  assert.equal(compare(whole), 2);
  for (let end = 0; end <= whole.length; end++) compare(whole.subarray(0, end));
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
      const changed = Buffer.from(whole);
      changed[at] = byte;
      compare(changed);
    }),
    { numRuns: 2_000 },
  );
});

test('the bounds of a request are the same', () => {
  const item = itemOf('belief', JSON.stringify(belief));
  assert.equal(compare(batchOf(new Array(BATCH_GRAINS_MAX).fill(item))), BATCH_GRAINS_MAX);
  assert.equal(compare(batchOf(new Array(BATCH_GRAINS_MAX + 1).fill(item))), 0);
  // Three members and 60 tags: beyond the bound for a request, though no item is.
  const tagged = itemOf('belief', JSON.stringify({ ...belief, tags: new Array(60).fill('t') }));
  const allowed = Math.floor(REQUEST_MEMBERS_MAX / 64);
  assert.equal(compare(batchOf(new Array(allowed).fill(tagged))), allowed);
  assert.equal(compare(batchOf(new Array(allowed + 1).fill(tagged))), 0);
  const others = itemOf('belief', JSON.stringify({ ...belief, other: new Array(60).fill('t') }));
  assert.ok(compare(batchOf([...new Array(allowed - 1).fill(others), item])) > 0);
  assert.equal(compare(batchOf([...new Array(allowed + 1).fill(others), item])), 0);
});

test('a plain grain is prepared as the general path prepares it, under any policy and binding', async (t) => {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const request = batchOf([
    itemOf(
      'belief',
      JSON.stringify({ ...belief, user_id: 'ada', confidence: 0.25, importance: 0.5, tags: ['phi:x', 'b'] }),
    ),
    itemOf(
      'belief',
      JSON.stringify({ subject: ' Ada ', relation: ' ', object: 'tea  ', namespace: 'n', session_id: 's' }),
    ),
    itemOf(
      'event',
      JSON.stringify({ content: 'Ada: is the tea ready?', role: 'User', session_id: 's', user_id: 'ada' }),
    ),
    itemOf('event', JSON.stringify({ content: 'É\u00a0漢字、ひらがな 😀', role: '役', user_id: 'é', tags: ['ж'] })),
    itemOf('event', JSON.stringify({ content: '\u00a0', confidence: 1, created_at: 1_700_000_000 })),
    itemOf('belief', JSON.stringify({ ...belief, object: 'call +49 170 1234567 or a@example.org' })),
  ]);
  const shard = read(request, true).items!;
  const general = read(request, false).items!;
  assert.ok(shard.every((item) => item instanceof PlainItem) && shard.length === general.length);
  const bindings = [{}, { namespace: 'own' }, { userId: 'eve' }];
  const same = (label: string): void => {
    const memory = engine.store.memory(1);
    const outcome = (item: AddItem, given: CallContext): unknown => {
      try {
        const { indexed, pii, ...prepared } = prepareAdd(memory, given, item, NOW_MS);
        const { text, ...entries } = indexed;
        const analyzed = text.analyzed();
        const words = 'pairs' in analyzed ? textOf(analyzed) : analyzed;
        return { ...prepared, entries, words, categories: pii?.categories };
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        return error.toWire();
      }
    };
    for (const bound of bindings)
      for (const [i, item] of shard.entries())
        assert.deepEqual(
          outcome(item, { ...context, ...bound }),
          outcome(general[i]!, { ...context, ...bound }),
          `${label} ${i}`,
        );
  };
  same('no policy');
  for (const action of ['flag', 'redact', 'block'] as const) {
    const change = { overrides: { 'pii.write_action': action } };
    await engine.write('setPolicy', context, { change, isAdmin: true });
    same(action);
  }
});
