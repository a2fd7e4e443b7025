// The statements of one query share what they know of a question. Each must give what it gives alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CalMemory, type ParsedJson } from './memory.ts';

const STATEMENTS = [
  'RECALL beliefs LIKE "saffron opened Acme" WITH score_breakdown LIMIT 8',
  'RECALL events LIKE "saffron opened Acme" WITH score_breakdown LIMIT 8',
  'RECALL beliefs LIKE "saffron opened Acme" WHERE NOT user_id != "ann" WITH score_breakdown LIMIT 8',
  'RECALL events LIKE "boiler" WITH score_breakdown LIMIT 8',
  'RECALL consensuses LIKE "saffron opened Acme" WHERE subject = "nobody" WITH score_breakdown LIMIT 8',
];

test('statements with the same question give what each gives alone', async (t) => {
  const memory = await CalMemory.open(t);
  const shown = ({ grains }: ParsedJson): ParsedJson => grains;
  const alone = STATEMENTS.map((statement) => shown(memory.ask(statement).result));
  const batch = STATEMENTS.map((statement, i) => `s${i}: ${statement}`).join(', ');
  const { results } = memory.ask(`BATCH { ${batch} }`).result as { results: ParsedJson };
  assert.deepEqual(
    STATEMENTS.map((_, i) => shown(results[`s${i}`])),
    alone,
  );
  assert.ok(alone.filter(({ length }) => length > 0).length >= 4);
  assert.ok(alone[0]![0].score_breakdown.bm25 > 0, JSON.stringify(alone[0]![0]));
});
