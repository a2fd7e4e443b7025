// `granary cal`: one query, several queries, and how a shell recognises the end of a query.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isComplete } from '../../src/cli/cal-shell.ts';
import { granary, granaryJson, type ServeProcess, serve } from '../support/cli.ts';

let data: string;
let server: ServeProcess;
before(async () => {
  data = mkdtempSync(join(tmpdir(), 'granary-cal-'));
  server = await serve(data);
});
after(async () => {
  const code = await server.stop();
  rmSync(data, { recursive: true, force: true });
  assert.equal(code, 0);
});

const here = (...words: string[]): string[] => [...words, '--data-dir', data];

test('a query prints a table, text or JSON, and an error shows the position', async () => {
  await granaryJson(here('add', 'ada', 'likes', 'green tea', '--user', 'ada'));
  const [table, text, all, refused] = await Promise.all([
    granary(here('cal', 'RECALL beliefs WHERE subject = "ada"')),
    granary(here('cal', '-'), { input: 'RECALL beliefs\n AS text' }),
    granaryJson(here('cal', 'RECALL beliefs | COUNT')),
    granary(here('cal', 'RECALL facts')),
  ]);
  assert.match(table.stdout, /score.*says/);
  assert.match(table.stdout, /ada likes green tea/);
  assert.equal(text.stdout, '[belief] ada likes green tea (1)\n');
  assert.equal((all['result'] as { count: number }).count, 1);
  assert.deepEqual([all['statement_type'], all['result_count']], ['recall', 1]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /granary: CAL-E003: unknown grain type facts/);
});

test('the shell reads queries over several lines and its own commands, and continues after an error', async () => {
  const input = [
    'RECALL beliefs',
    'BATCH {',
    '  count: RECALL beliefs | COUNT,',
    '  kinds: DESCRIBE grain_types',
    '};',
    'RECALL facts;',
    '\\timing',
    'RECALL beliefs WHERE',
    '  subject = "nobody";',
    '\\d goal',
    '\\q',
    'RECALL events',
  ].join('\n');
  const ran = await granary(here('cal'), { input });
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stdout, /count:\n1\nkinds:\n/);
  assert.match(ran.stdout, /consensuses/);
  assert.match(
    ran.stderr,
    /CAL-E003: unknown grain type facts\n {2}RECALL facts;\n {9}\^\nDid you mean beliefs\?\nTry: RECALL beliefs;?\n/,
  );
  assert.match(ran.stdout, /timing is on\nNothing was found\.\n\d+ ms/);
  assert.match(ran.stdout, /goal_state/);
});

test('a query is complete when nothing is open and the last word needs no operand', () => {
  for (const text of [
    'RECALL beliefs',
    'RECALL beliefs;',
    'LET $x = RECALL beliefs | SUBJECTS; RECALL goals',
    '(RECALL a) UNION (RECALL b)',
    'RECALL beliefs -- (',
    'RECALL beliefs -- sorted by',
    'RECALL beliefs LIKE "tea; let it brew"',
    'RECALL beliefs LIKE "where (and by";',
    '',
  ])
    assert.ok(isComplete(text), text);
  for (const text of [
    'RECALL',
    'RECALL beliefs WHERE',
    'BATCH {',
    'RECALL ABOUT "a',
    'RECALL ABOUT "a\\"',
    'RECALL beliefs |',
    'LET $x = RECALL beliefs | SUBJECTS;',
    'ASSEMBLE FROM a: (RECALL goals),',
    'RECALL beliefs WHERE -- then a subject',
    'LET $x = RECALL beliefs LIKE "a; b";',
  ])
    assert.ok(!isComplete(text), text);
});
