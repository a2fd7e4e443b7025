// Answers to the questions of stages, for tests: an unexpected question fails the test.
import assert from 'node:assert/strict';
import type { AnswersLater, AnswersNow } from '../../../asking/asking.ts';
import type { QuestionOutput, RecallQuestion } from '../../../asking/questions.ts';
import type { StageHit } from '../hit.ts';
import { recallHit } from '../recall-hit.ts';

export type StageAnswers = AnswersNow<RecallQuestion>;

export function answersOf(given: Partial<StageAnswers>): StageAnswers {
  const unexpected = (kind: RecallQuestion) => (): never => assert.fail(`nobody asks for ${kind} here`);
  return {
    search: unexpected('search'),
    fetch: unexpected('fetch'),
    namespaces: unexpected('namespaces'),
    alike: unexpected('alike'),
    vectors: unexpected('vectors'),
    rerank: unexpected('rerank'),
    ...given,
  };
}

/** A search that found these hits. */
export function found(hits: readonly StageHit[]): QuestionOutput<'search'> {
  return { hits: hits.map(recallHit), total: hits.length, coverage: null };
}

/** The same answers, delivered later. */
export function later(answers: StageAnswers): AnswersLater<RecallQuestion> {
  return {
    search: async (input) => answers.search(input),
    fetch: async (input) => answers.fetch(input),
    namespaces: async (input) => answers.namespaces(input),
    alike: async (input) => answers.alike(input),
    vectors: async (input) => answers.vectors(input),
    rerank: async (input) => answers.rerank(input),
  };
}
