// docs/cal.md: every example that is marked as one to run answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isRefused } from '../../src/engine/cal/run/answer.ts';
import { CalMemory } from './memory.ts';

test('every example of the guide is answered', async (t) => {
  const guide = readFileSync(new URL('../../docs/cal.md', import.meta.url), 'utf8');
  const memory = await CalMemory.open(t);
  const queries = [...guide.matchAll(/```cal\n([\s\S]*?)```/g)].flatMap((match) => match[1]!.trim().split(/\n\n+/));
  assert.ok(queries.length > 20);
  for (const query of queries) {
    const reply = memory.reply(query, { userId: 'ann', namespace: 'home', session: { mayDefine: true } });
    assert.ok(!isRefused(reply), `${query}\n${isRefused(reply) ? `${reply.refused}: ${reply.message}` : ''}`);
  }
});
