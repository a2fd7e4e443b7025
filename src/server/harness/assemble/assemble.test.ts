// The context of a turn: each named query shows what it is for, with the caller's binding and the turn's user; a parameter
// is one value, whatever its text; and each piece of a document names its source.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EngineError } from '../../../engine/base/errors.ts';
import { defineOperation } from '../../operations/define.ts';
import { Type } from '../../operations/type.ts';
import { ADMIN, ask, makeKey, makeParts, type Parts } from '../../testing/parts.ts';
import { readHarness } from '../store.ts';
import { TEMPLATES } from '../templates/table.ts';
import { type AssembledContext, type AssembleFor, assembleContext } from './assemble.ts';
import { namedText, QUERY_NAMES } from './named.ts';
import { boundText, checkAssembleQuery, PARAMETERS } from './query.ts';
import { withSources } from './sources.ts';

let parts: Parts;
before(async () => {
  parts = await makeParts();
});
after(() => parts.close());

const M = '/memories/default';
const post = async (path: string, json: unknown, key = ADMIN): Promise<Record<string, unknown>> => {
  const { body, error } = await ask(parts, 'POST', `${M}${path}`, { json, key });
  if (error !== undefined) throw error;
  return body;
};
const add = async (grain_type: string, fields: object): Promise<string> =>
  String((await post('/add', { grain_type, fields }))['blob_hash']);

/** Runs assembleContext with the rights of a request. */
async function assemble(
  slug: string,
  wanted: AssembleFor,
  { key = ADMIN, headers = {}, of = parts } = {},
): Promise<AssembledContext> {
  const operation = defineOperation({
    name: 'assemble',
    summary: 'Assemble.',
    description: 'For this test.',
    example: {},
    needs: 'read',
    on: 'memory',
    reach: 'binding',
    mutates: false,
    input: Type.Object({}),
    output: Type.Object({}),
    run: async (_, context) => await assembleContext(context, await readHarness(context, context.memory, slug), wanted),
  });
  const sent: Record<string, string> = { authorization: `Bearer ${key}`, ...headers };
  const answer = await of.wrapper.perform(
    {
      operation,
      face: 'http',
      memoryId: 'default',
      requestId: undefined,
      header: (name) => sent[name],
      remoteAddress: '127.0.0.1',
    },
    {
      read: () => ({ candidate: {}, bytes: Buffer.alloc(0), unknown: [] }),
      write: (output) => output as AssembledContext, // what `run` returned
    },
  );
  if (!answer.ok) throw answer.error;
  return answer.reply;
}

/** A grain for each source of the named queries, all about a kettle. */
const GRAINS: Readonly<Record<string, readonly [type: string, fields: object]>> = {
  facts: ['belief', { subject: 'Northwind', relation: 'bought', object: 'a kettle', user_id: 'ann' }],
  documents: [
    'event',
    {
      content: 'A kettle that leaks is replaced within two years.',
      context: { document: { file_name: 'hand "book".pdf', page: 3, headings: ['Returns', 'Kettles'] } },
    },
  ],
  open_goals: ['goal', { description: 'Replace the kettle of Northwind', user_id: 'ann' }],
  observations: ['observation', { content: 'Northwind looks at the kettle page every day', observer_id: 'web' }],
  earlier_conversations: ['event', { content: 'My kettle leaks', role: 'user', session_id: 'old', user_id: 'ann' }],
  steps_tried: ['action', { tool_name: 'reset', input: {}, content: 'descaled the kettle', user_id: 'ann' }],
  session_notes: ['event', { content: 'a note in passing', session_id: 'now', user_id: 'ann' }],
  reasons: ['reasoning', { conclusion: 'The kettle leaks because of its seal', premises: ['it drips'] }],
  agreements: [
    'consensus',
    { agreed_content: 'The kettle counts as a small appliance', participating_observers: ['a'] },
  ],
};
/** Sources that show grains of one of the kinds above. */
const KIND: Readonly<Record<string, string>> = {
  approved_answers: 'facts',
  open_action_items: 'open_goals',
  latest_notes: 'documents',
  interpretations: 'reasons',
};
/** Sources whose grains an earlier source has shown already. */
const SHOWN_BEFORE = new Set(['meeting_intelligence latest_notes']);

test('every named query shows a grain from each of its sources', async () => {
  const hashes = new Map<string, string>();
  for (const [kind, [type, fields]] of Object.entries(GRAINS)) hashes.set(kind, await add(type, fields));
  await add('belief', { subject: 'Bob', relation: 'bought', object: 'a kettle', user_id: 'bob' });
  const search = { tool_name: 'recall', input: { query: 'kettle' }, content: 'found: a kettle leaks', user_id: 'ann' };
  await add('action', search);
  for (const name of QUERY_NAMES) {
    const slug = name.replaceAll('_', '-');
    await post(`/harnesses/${slug}/provision`, { goal: 'Sell a kettle', assemble_query: name });
    const { text, shown, tokens, warnings } = await assemble(slug, {
      sessionId: 'now',
      userId: 'ann',
      query: 'What about my "kettle"?',
    });
    assert.deepEqual(warnings, []);
    assert.ok(text.startsWith('<context>') && !text.includes('Bob'), text);
    assert.ok(!text.includes('Sell a kettle'), 'the goals of harnesses are no data');
    assert.ok(!text.includes('found: a kettle'), 'the results of searches are there themselves');
    assert.ok(tokens > 0 && tokens <= 4_000);
    const checked = labelsOf(name).map((label) => {
      if (SHOWN_BEFORE.has(`${name} ${label}`)) return label;
      assert.ok(shown.includes(hashes.get(KIND[label] ?? label) ?? ''), `${name} shows nothing of ${label}:\n${text}`);
      return label;
    });
    assert.ok(checked.length >= 3, name);
    assert.match(
      text,
      / {2}<event source="hand &quot;book&quot;.pdf, page 3, Returns &gt; Kettles" [^>]*>A kettle that leaks/,
    );
  }
});

function labelsOf(name: string): readonly string[] {
  const bound = boundText(queryText(name), { user: 'u', def_ns: 'd', session_id: 's', query: 'q' });
  return [...bound.matchAll(/(\w+): \(RECALL/g)].map(([, label = '']) => label);
}

function queryText(name: string): string {
  const template = TEMPLATES.find(({ assembleQuery }) => assembleQuery === name);
  assert.ok(template, `${name} has a template`);
  return namedText(name) ?? '';
}

test('a turn without a user shows what its caller may see, and a bound caller what it is bound to', async () => {
  await post('/harnesses/open/provision', { goal: 'x' });
  const all = await assemble('open', { sessionId: 'now', query: 'kettle' });
  assert.ok(all.text.includes('subject="Bob"'), all.text);
  assert.ok(all.shown.length > 3);
  const bound = await assemble('open', { sessionId: 'now', query: 'kettle' }, { headers: { 'x-user-id': 'bob' } });
  assert.equal(bound.shown.length, 1);
  assert.ok(bound.text.includes('subject="Bob"'));
  const key = await makeKey(parts, ['read', 'write'], { namespace: 'elsewhere' });
  assert.deepEqual(await assemble('open', { sessionId: 'now', query: 'kettle' }, { key }), {
    text: '',
    shown: [],
    persons: new Set(),
    tokens: 0,
    warnings: [],
  });
});

test('CAL text of a definition has its parameters, and their values stay values', async () => {
  const assembleQuery =
    'ASSEMBLE own FROM goals: (RECALL goals IN $def_ns), said: (RECALL beliefs LIKE $query) FORMAT text';
  await post('/harnesses/own/provision', { goal: 'Watch kettles', assemble_query: assembleQuery });
  for (const query of [
    'kettle',
    '" } DROP',
    'kettle \\" LIMIT 1',
    'a\u202eb kettle',
    `kettle ${'word '.repeat(9_000)}`,
    '$user',
  ]) {
    const { text } = await assemble('own', { sessionId: 's"', userId: 'u"', query });
    assert.ok(text.includes('Watch kettles'), query);
  }
  await post('/harnesses/own/provision', {
    assemble_query: 'ASSEMBLE own FROM (RECALL events THREAD $session_id) FORMAT json',
  });
  const { text, shown } = await assemble('own', { sessionId: 'old', query: 'x' });
  assert.ok(text.includes('My kettle leaks') && shown.length === 1);
});

test('a server that refuses extensions of CAL assembles by its own queries, and one without CAL does not', async () => {
  const strict = await makeParts({ flags: { calStrict: true } });
  try {
    for (const json of [
      { grain_type: 'belief', fields: { subject: 'a', relation: 'has', object: 'a kettle', user_id: 'ann' } },
      { grain_type: 'belief', fields: { subject: 'b', relation: 'has', object: 'a kettle', user_id: 'bob' } },
    ])
      assert.equal((await ask(strict, 'POST', `${M}/add`, { json, key: ADMIN })).error, undefined);
    await ask(strict, 'POST', `${M}/harnesses/h/provision`, { json: { goal: 'x' }, key: ADMIN });
    const wanted = { sessionId: 's', userId: 'ann', query: 'kettle' };
    assert.equal((await assemble('h', wanted, { of: strict })).shown.length, 1);
    const json = { user_id: 'ann', reason: 'asked' };
    await ask(strict, 'POST', `${M}/app/exec`, { json: { command: 'restrict', args: json }, key: ADMIN });
    assert.deepEqual((await assemble('h', wanted, { of: strict })).shown, [], 'a restricted person');
    await strict.services.cal.turn({ enabled: false }, 'system');
    await assert.rejects(assemble('h', wanted, { of: strict }), /CAL-E101/);
  } finally {
    await strict.close();
  }
});

test('a query that cannot run is refused when it is stated', () => {
  for (const name of QUERY_NAMES) checkAssembleQuery(name);
  checkAssembleQuery('LET $found = RECALL beliefs LIKE $query; ASSEMBLE FROM found: ($found)');
  const bad: readonly (readonly [string, string])[] = [
    ['other_context', 'VAL-E001'],
    ['RECALL beliefs', 'VAL-E001'],
    ['ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON "d"', 'VAL-E001'],
    ['{"statement":"recall"}', 'VAL-E001'],
    ['ASSEMBLE FROM (RECALL beliefs WHERE subject = $other)', 'CAL-E008'],
    ['ASSEMBLE FROM', 'CAL-E002'],
    [`ASSEMBLE FROM (RECALL beliefs LIKE "${'x'.repeat(9_000)}")`, 'CAL-E001'],
  ];
  for (const [text, code] of bad)
    assert.throws(
      () => checkAssembleQuery(text),
      (error: unknown) => error instanceof EngineError && error.code === code,
      text,
    );
});

test('a parameter becomes one string of the language', () => {
  const values = Object.fromEntries(PARAMETERS.map((name) => [name, `${name} "\\`])) as Parameters<typeof boundText>[1];
  assert.equal(
    boundText('ASSEMBLE FROM (RECALL MY events LIKE $query WHERE a = "$user" AND b = $current_user_id)', values),
    'ASSEMBLE FROM (RECALL MY events LIKE "query \\"\\\\" WHERE a = "$user" AND b = $current_user_id)',
  );
});

test('sources are named only where each element has its grain', () => {
  const text = '<context>\n\n  <event>one</event>\n\n</context>';
  const grain = { hash: 'h', fields: { context: { document: { file_name: 'a\n<b>', slide: 2 } } } };
  assert.equal(withSources(text, [grain]), text.replace('<event', '<event source="a &lt;b&gt;, slide 2"'));
  for (const other of [text.replace('<context>', ''), '<context>\n</context>'])
    assert.equal(withSources(other, [grain]), other);
  assert.equal(withSources(text, [{ hash: 'h', fields: { context: { document: 'a' } } }]), text);
});
