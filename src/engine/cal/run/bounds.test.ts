// The bounds of a whole query, whatever its reads stay within.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswersNow, answerNow } from '../../asking/asking.ts';
import type { CalQuestion, QuestionInput, QuestionOutput } from '../../asking/questions.ts';
import { systemClock } from '../../base/clock.ts';
import { CAL_HELD_BYTES_MAX } from '../../base/limits.ts';
import { isRefused } from '../../calls/cal.ts';
import type { GrainView } from '../../calls/grain.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { answerCal } from './answer.ts';
import { PLAIN_SESSION } from './session.ts';

type Select = (input: QuestionInput<'select'>) => QuestionOutput<'select'>;

const refuse = (): never => assert.fail('the query asks only for grains');

/** The answer of a memory that selects these grains. */
function answerTo(query: string, select: Select) {
  const answers: AnswersNow<CalQuestion> = {
    ...{ count: refuse, group: refuse, values: refuse, find: refuse, estimate: refuse, pairs: refuse, rivals: refuse },
    ...{ search: refuse, history: refuse, add: refuse, supersede: refuse },
    select,
    cap: () => ({ recallMax: null }),
  };
  const context = { memory: 1, actor: 'key:test', requestId: 'req' };
  const reply = answerNow(answerCal({ query, session: PLAIN_SESSION, vectors: [] }, context, systemClock), answers);
  if (isRefused(reply)) assert.fail(reply.message);
  return reply;
}

function view(at: number, sizeBytes: number): GrainView {
  const hash = at.toString(16).padStart(64, '0');
  const fields = { subject: `s${at % 3}`, relation: 'is', object: `o${at}` };
  return { ...{ hash, grainType: 'belief', fields, createdAt: 1, createdAtMs: 1_000, namespace: '' }, sizeBytes };
}

test('E030: the reads of a query together hold no more bytes than one may', () => {
  const asked: unknown[] = [];
  const sizeBytes = Math.ceil(CAL_HELD_BYTES_MAX * 0.6);
  const { resultJson } = answerTo('BATCH { a: RECALL beliefs, b: RECALL beliefs, c: DESCRIBE server }', (input) => {
    asked.push(input.heldMax);
    return { grains: [view(1, sizeBytes)], total: 1, scanned: 1 };
  });
  const { a, b, c } = (
    JSON.parse(resultJson) as { results: Record<string, { type?: string; error?: { code: string } }> }
  ).results;
  assert.deepEqual([a?.type, b?.error?.code, c?.type], ['grains', 'CAL-E030', 'describe']);
  assert.deepEqual(asked, [CAL_HELD_BYTES_MAX, CAL_HELD_BYTES_MAX - sizeBytes]);
});

test('W009: grains without repeats that are cut are reported, and no others', () => {
  const { grainsHeldMax } = CAL_LIMITS;
  const warningsFor = (count: number): readonly string[] => {
    const query = 'RECALL beliefs WITH dedup(object) | GROUP BY subject';
    const { warnings, resultJson } = answerTo(query, ({ take }) => {
      const grains = Array.from({ length: Math.min(take, count) }, (_, i) => view(i, 100));
      return { grains, total: 3 * count, scanned: count };
    });
    const { groups } = JSON.parse(resultJson) as { groups: { count: number }[] };
    assert.equal(
      groups.reduce((sum, group) => sum + group.count, 0),
      Math.min(count, grainsHeldMax),
    );
    return warnings.map((warning) => warning.slice(0, 8));
  };
  assert.deepEqual(warningsFor(grainsHeldMax), []);
  assert.deepEqual(warningsFor(grainsHeldMax + 1), ['CAL-W009']);
});
