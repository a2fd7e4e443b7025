// The parts of a question and its passages that a model receives, as the memory's policy allows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MODEL_PASSAGE_CHARS_MAX } from '../../../engine/base/limits.ts';
import type { StageHit } from '../../../engine/recall/stages/hit.ts';
import type { Context } from '../../context.ts';
import { questionVector, rerankingOf } from './models.ts';

const MAIL = 'ann@example.org';
const QUESTION = `what did ${MAIL} say`;

/** A call on a memory under a policy, with models that record what they receive. */
function calling(egress: 'allow' | 'redact' | 'block') {
  const sent: string[] = [];
  const governing = { version: 1, presets: [], guardrailPatterns: [], guardrailMode: 'exact', egress };
  const ordered = async (question: string, passages: readonly string[]) => {
    sent.push(question, ...passages);
    return passages.map((_, at) => at).toReversed();
  };
  const context = {
    memory: { number: 1, governing },
    deadlineMs: 60_000,
    services: {
      clock: { nowMs: () => 0 },
      config: { modelUrl: 'https://models.example/v1', rerankUrl: undefined },
      embedders: { nameOf: () => 'remote' },
      models: {
        imagine: async (question: string) => {
          sent.push(question);
          return 'she said yes';
        },
        rerank: ordered,
        orderListwise: ordered,
      },
    },
  } as unknown as Context; // the members that are read here
  return { context, sent };
}

const hit = (content: string): StageHit =>
  ({ grain: { grainType: 'event', fields: { content } } }) as unknown as StageHit; // only the hit's text is read

test('models receive the question and the passages whole, redacted, or not at all', async () => {
  const hits = [hit(`from ${MAIL}`), hit('plain')];
  for (const [egress, wanted] of [
    ['allow', [QUESTION, `from ${MAIL}`, 'plain']],
    ['redact', ['what did [EMAIL] say', 'from [EMAIL]', 'plain']],
    ['block', []],
  ] as const) {
    const { context, sent } = calling(egress);
    const reranking = rerankingOf({ query: QUESTION, rerank: true }, QUESTION, context);
    const order = await reranking?.rerank(hits);
    assert.deepEqual(sent, wanted, egress);
    assert.deepEqual([order, reranking?.warnings.length], egress === 'block' ? [undefined, 1] : [[1, 0], 0]);
    const embedded = async (words: string) => {
      assert.ok(words === QUESTION || words === 'she said yes', 'the embedder redacts its own texts');
      return { vector: { bytes: new Uint8Array(4), of: words, embedder: 'e/1' } };
    };
    sent.length = 0;
    await questionVector({ query: QUESTION, hyde: true }, QUESTION, context, embedded);
    assert.deepEqual(sent, wanted.slice(0, 1), `hyde: ${egress}`);
  }
});

test('a long passage is cut between words, because a part of an address might not be recognised', async () => {
  const { context, sent } = calling('redact');
  const filling = 'word '.repeat(MODEL_PASSAGE_CHARS_MAX / 5 - 1);
  await rerankingOf({ query: 'q', rerank: true }, 'q', context)?.rerank([
    hit(`${filling}${MAIL}`),
    hit('字'.repeat(9_000)),
  ]);
  assert.equal(sent[1], filling.trimEnd());
  assert.equal(sent[2]?.length, MODEL_PASSAGE_CHARS_MAX);
});
