// The built-in tools over a real shard: what they answer, and what they refuse beside the rights of the caller.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { Engine } from '../../engine/engine.ts';
import { CALL_ROWS, type Input, type MemoryCalls, type Output } from '../../shards/protocol.ts';
import { DataBlocks } from '../chat/prompt.ts';
import { BUILTIN_TOOLS, builtinTool, callBuiltin } from './builtin.ts';
import type { ToolCaller } from './caller.ts';

async function opened(t: TestContext) {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.abandon());
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  const use = async (caller: Omit<ToolCaller, 'context'>, name: string, args: unknown) => {
    const tool = builtinTool(name);
    assert.ok(tool !== undefined, name);
    const context = {
      call: (method: keyof MemoryCalls, input: never, extras: object = {}) => ask(engine, method, input, extras),
      services: { queryVectors: { of: () => Promise.resolve({}) }, clock: { nowMs: () => 0 } },
      deadlineMs: 0,
    } as unknown as ToolCaller['context']; // as far as tools use it
    const { output, shown, isError } = await callBuiltin(tool, { context, ...caller }, args);
    // biome-ignore lint/suspicious/noExplicitAny: members are asserted one by one where they are used
    return { output: output as any, shown, isError };
  };
  return { engine, use };
}

function ask<M extends keyof MemoryCalls>(engine: Engine, method: M, input: Input<M>, extras: object): unknown {
  const context = { ...contextOf(1), ...extras };
  const isRead = CALL_ROWS[method].kind === 'read';
  return isRead
    ? Promise.resolve().then(() => engine.read(method as 'recall', context, input as never) as Output<M>)
    : engine.write(method as 'add', context, input as never);
}

const ADA = { userId: 'ada' };
const FACT = { subject: 'Ada', relation: 'drinks', object: 'green tea' };

test('a model is told of five tools with schemas of objects', () => {
  assert.deepEqual(
    BUILTIN_TOOLS.map(({ name }) => name),
    ['recall', 'add', 'supersede', 'forget', 'goals'],
  );
  for (const { inputSchema, description } of BUILTIN_TOOLS) {
    assert.equal(inputSchema['type'], 'object');
    assert.ok(description.length > 0);
  }
});

test('a search does not find the results of earlier searches, unless actions are asked for', async (t) => {
  const { use, engine } = await opened(t);
  await use(ADA, 'add', FACT);
  const { output } = await use(ADA, 'recall', { query: 'green tea' });
  for (const tool_name of ['recall', 'orders.find']) {
    const fields = { tool_name, content: JSON.stringify(output), is_error: false, user_id: 'ada' };
    await engine.write('add', contextOf(1), { grainType: 'action', fields, sync: false });
  }
  const namesOf = ({ output: { results } }: { readonly output: { results: { tool_name?: string }[] } }) =>
    results.map(({ tool_name: name }) => name);
  assert.deepEqual(namesOf(await use(ADA, 'recall', { query: 'green tea' })).toSorted(), ['orders.find', undefined]);
  const actions = namesOf(await use(ADA, 'recall', { query: 'green tea', grain_type: 'action' }));
  assert.deepEqual(actions.toSorted(), ['orders.find', 'recall']);
});

test('a grain with an integer beyond 2^53 is shown with all of its digits', async (t) => {
  const { use, engine } = await opened(t);
  const fields = { ...FACT, user_id: 'ada', account: 9007199254740993n };
  await engine.write('add', contextOf(1), { grainType: 'belief', fields, sync: false });
  const { output, isError } = await use(ADA, 'recall', { query: 'green tea' });
  assert.deepEqual([isError, output.results[0].account], [false, fields.account]);
  assert.match(new DataBlocks().block('recall', output), /"account":9007199254740993/);
});

test('what a tool adds is found, corrected and forgotten', async (t) => {
  const { use, engine } = await opened(t);
  const added = await use(ADA, 'add', FACT);
  assert.equal(added.output.status, 'added');
  const { fields } = engine.read('get', contextOf(1), { hash: added.output.hash });
  assert.deepEqual([fields['source_type'], fields['user_id'], fields['object']], ['agent', 'ada', 'green tea']);
  assert.equal((await use(ADA, 'add', FACT)).output.status, 'known already');

  const changed = await use(ADA, 'supersede', { hash: added.output.hash, object: 'black tea', reason: 'she said so' });
  const found = await use(ADA, 'recall', { query: 'what does Ada drink', limit: 5 });
  assert.deepEqual(found.shown, [changed.output.hash]);
  assert.equal(found.output.results[0].object, 'black tea');

  assert.equal((await use(ADA, 'forget', { hash: changed.output.hash })).output.status, 'forgotten');
  assert.deepEqual((await use(ADA, 'recall', { query: 'black tea' })).output.results, []);
});

test('a model is shown a field of any name', async (t) => {
  const { use, engine } = await opened(t);
  const fields = Object.assign(JSON.parse('{"__proto__":{"x":1}}'), FACT);
  await engine.write('add', contextOf(1), { grainType: 'belief', fields, sync: false });
  const { output } = await use({}, 'recall', { query: 'green tea' });
  assert.deepEqual(Object.getOwnPropertyDescriptor(output.results[0], '__proto__')?.value, { x: 1 });
});

test('a conversation with one person shows nothing of another, and changes only what is that person’s', async (t) => {
  const { use } = await opened(t);
  const bobs = await use({ userId: 'bob' }, 'add', { ...FACT, subject: 'Bob' });
  const nobodys = await use({}, 'add', { ...FACT, subject: 'The house' });
  const found = await use(ADA, 'recall', { query: 'green tea' });
  assert.deepEqual(found.shown, [nobodys.output.hash]);
  for (const { output } of [bobs, nobodys])
    for (const [name, args] of [
      ['supersede', { object: 'poison' }],
      ['forget', {}],
    ] as const) {
      const refused = await use(ADA, name, { hash: output.hash, ...args });
      assert.deepEqual([refused.isError, refused.output.error], [true, 'MEM-E001']);
    }
  const elsewhere = await use({ namespace: 'work' }, 'forget', { hash: nobodys.output.hash });
  assert.equal(elsewhere.output.error, 'MEM-E001');
  assert.equal((await use({}, 'recall', { query: 'green tea' })).output.results.length, 2);
});

test('a recall shows neither the states of threads nor the definitions of harnesses', async (t) => {
  const { use, engine } = await opened(t);
  const stored = async (grainType: string, fields: Record<string, string | object>) =>
    (await engine.write('add', contextOf(1), { grainType, fields: { ...fields } as never, sync: false })).hash;
  const namespace = 'harnesses/tea-shop/def';
  const goal = await stored('goal', { namespace, description: 'Sell green tea', goal_state: 'active' });
  const tool = {
    kind: 'definition',
    tool_name: 'tea',
    tool_description: 'Order green tea',
    input_schema: { type: 'object' },
  };
  await stored('action', { namespace, ...tool });
  const data = { title: 'Who buys green tea?', metadata: {} };
  const embedding_text = data.title;
  await stored('state', { data, embedding_text, tags: ['chat_thread'], session_id: 'thr_1' });
  const own = [
    await stored('goal', { namespace: 'harnesses/tea-shop', description: 'Drink green tea', goal_state: 'active' }),
    await stored('state', { data, embedding_text, session_id: 'a session' }),
    await stored('belief', FACT),
  ];
  const found = await use({}, 'recall', { query: 'green tea', limit: 20 });
  assert.deepEqual([...found.shown].sort(), own.sort());
  const inside = await use({ namespace }, 'recall', { query: 'green tea' });
  assert.deepEqual(inside.shown, [], `not ${goal}`);
});

test('goals are listed, created and moved, those of the session or those of the person', async (t) => {
  const { use } = await opened(t);
  const session = { ...ADA, sessionId: 'thr_1' };
  const made = await use(session, 'goals', { action: 'create', description: 'Book a table', priority: 'high' });
  await use(ADA, 'goals', { action: 'create', description: 'Read more' });
  const described = async (caller: object, args: object) =>
    (await use(caller, 'goals', { action: 'list', ...args })).output.goals.map(
      (goal: { description: string }) => goal.description,
    );
  assert.deepEqual(await described(session, {}), ['Book a table']);
  assert.deepEqual((await described(ADA, {})).sort(), ['Book a table', 'Read more']);
  assert.deepEqual(await described({ userId: 'bob' }, {}), []);
  // A conversation of several: one person's turn is shown nothing of another's.
  const others = { userId: 'bob', sessionId: 'thr_1' };
  assert.deepEqual(await described(others, {}), []);
  await use({ sessionId: 'thr_1' }, 'goals', { action: 'create', description: 'Keep the shop open' });
  assert.deepEqual(await described(others, {}), ['Keep the shop open']);
  assert.deepEqual(await described({ ...session, namespace: 'work' }, {}), []);
  const moved = await use(session, 'goals', { action: 'update', hash: made.output.hash, state: 'satisfied' });
  assert.equal(moved.output.status, 'updated');
  assert.deepEqual(await described(session, { state: 'satisfied' }), ['Book a table']);
});

test('wrong arguments are a result that names them', async (t) => {
  const { use } = await opened(t);
  for (const [name, args, code, said] of [
    ['recall', {}, 'VAL-E003', /query/],
    ['recall', { query: 'x', limit: 1_000 }, 'VAL-E001', /limit/],
    ['add', { subject: 'Ada' }, 'VAL-E003', /relation/],
    ['supersede', { hash: 'zz', object: 'x' }, 'VAL-E001', /hash/],
    ['supersede', { hash: 'a'.repeat(64) }, 'VAL-E001', /nothing/],
    ['forget', { hash: 'a'.repeat(64) }, 'MEM-E001', /./],
    ['goals', { action: 'create' }, 'VAL-E003', /description/],
    ['goals', 'no object', 'VAL-E003', /./],
  ] as const) {
    const { output, isError } = await use({}, name, args);
    assert.deepEqual([isError, output.error], [true, code], `${name} ${JSON.stringify(args)}`);
    assert.match(output.message, said);
  }
});

test('a long record is cut to a bound', async (t) => {
  const { use, engine } = await opened(t);
  await engine.write('add', contextOf(1), {
    grainType: 'event',
    fields: { content: `tea ${'x'.repeat(100_000)}` },
    sync: false,
  });
  const { output } = await use({}, 'recall', { query: 'tea' });
  assert.ok(JSON.stringify(output).length < 3_000);
  assert.match(output.results[0].content, /^tea x+…$/);
});
