// docs/cal.md: every example marked as runnable runs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isRefused } from '../../src/engine/calls/cal.ts';
import { CalMemory } from './memory.ts';

test('every example of the guide runs', async (t) => {
  const guide = readFileSync(new URL('../../docs/cal.md', import.meta.url), 'utf8');
  const memory = await CalMemory.open(t);
  const queries = [...guide.matchAll(/```cal\n([\s\S]*?)```/g)].flatMap((match) => match[1]!.trim().split(/\n\n+/));
  const extended = [...guide.matchAll(/```cal-extension\n([\s\S]*?)```/g)].flatMap((match) =>
    match[1]!.trim().split(/\n\n+/),
  );
  assert.ok(queries.length > 20 && extended.length >= 5);
  for (const query of extended) {
    assert.match(memory.ask(query).warnings.join(), /CAL-W008/, query);
    assert.match(memory.code(query, { session: { strict: true } }), /^CAL-E0/, query);
  }
  for (const query of queries) {
    const reply = memory.reply(query, { userId: 'ann', namespace: 'home', session: { mayDefine: true } });
    assert.ok(!isRefused(reply), `${query}\n${isRefused(reply) ? `${reply.refused}: ${reply.message}` : ''}`);
  }
});

test('the primer equals the answer of DESCRIBE, and each of its queries runs without a warning', async (t) => {
  const page = readFileSync(new URL('../../docs/cal-primer.md', import.meta.url), 'utf8');
  const memory = await CalMemory.open(t);
  const { result } = memory.ask('DESCRIBE primer');
  assert.equal(result['info'].primer, page);
  const templates = [...page.matchAll(/```cal\n([\s\S]*?)```/g)].flatMap((match) => match[1]!.trim().split(/\n\n+/));
  assert.equal(templates.length, 6);
  const instead = [...page.matchAll(/\| `([^`]*)` \|$/gm)].map((match) => match[1]!.replaceAll('\\|', '|'));
  assert.ok(instead.length >= 14, `${instead.length} rows`);
  const values = instead.filter((query) => !/^(RECALL|\()/.test(query));
  assert.deepEqual(values, ['"alice"']);
  for (const query of [...templates, ...instead.filter((one) => !values.includes(one))]) {
    const { warnings } = memory.ask(query);
    assert.deepEqual(
      warnings.filter((warning) => !warning.startsWith('CAL-W010')),
      [],
      query,
    );
  }
});
