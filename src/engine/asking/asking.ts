// One protocol for code that needs answers from a memory: a generator yields questions and is resumed with their answers. The
// same code then runs in a shard, where answers are at hand, and on the thread that waits for several partitions.
import { assert } from '../base/assert.ts';
import type { QuestionInput, QuestionKind, QuestionOutput } from './questions.ts';

export type Question<K extends QuestionKind = QuestionKind> = {
  readonly [One in K]: { readonly kind: One; readonly input: QuestionInput<One> };
}[K];

/** The end of a question: its output, or the error that it was answered with. */
export type Settled = { readonly output: QuestionOutput<QuestionKind> } | { readonly error: unknown };

/**
 * A computation that asks questions of the kinds `K` and returns `T`. Questions that are yielded together are answered together.
 * The computation is resumed with the answers in the same order. A question that fails does not stop the others.
 */
export type Asking<T, K extends QuestionKind> = Generator<readonly Question<K>[], T, readonly Settled[]>;

/** Asks one question. Throws the error that its answer failed with. */
export function* ask<K extends QuestionKind>(kind: K, input: QuestionInput<K>): Asking<QuestionOutput<K>, K> {
  const [settled] = yield [questionOf(kind, input)];
  return outputOf<K>(settled);
}

/** Asks several questions of one kind together. Throws the error of the first of them that failed. */
export function* askAll<K extends QuestionKind>(
  kind: K,
  inputs: readonly QuestionInput<K>[],
): Asking<QuestionOutput<K>[], K> {
  if (inputs.length === 0) return [];
  const settled = yield inputs.map((input) => questionOf(kind, input));
  return inputs.map((_, at) => outputOf<K>(settled[at]));
}

function questionOf<K extends QuestionKind>(kind: K, input: QuestionInput<K>): Question<K> {
  return { kind, input } as Question<K>; // kind and input come from the same K
}

function outputOf<K extends QuestionKind>(settled: Settled | undefined): QuestionOutput<K> {
  assert(settled !== undefined, 'each question has an answer');
  if ('error' in settled) throw settled.error;
  return settled.output as QuestionOutput<K>; // Drivers answer a kind with its output.
}

/** Answers each kind synchronously. */
export type AnswersNow<K extends QuestionKind> = {
  readonly [One in K]: (input: QuestionInput<One>) => QuestionOutput<One>;
};

/** Answers each kind with a promise. */
export type AnswersLater<K extends QuestionKind> = {
  readonly [One in K]: (input: QuestionInput<One>) => Promise<QuestionOutput<One>>;
};

/** The synchronous driver, for a store in the same thread: runs to the end without waiting. */
export function answerNow<T, K extends QuestionKind>(asking: Asking<T, K>, answers: AnswersNow<K>): T {
  let step = asking.next();
  while (step.done !== true) step = asking.next(step.value.map((question) => settle(question, answers)));
  return step.value;
}

/** The asynchronous driver, for partitions and models: waits for all questions that were asked together. */
export async function answerLater<T, K extends QuestionKind>(
  asking: Asking<T, K>,
  answers: AnswersLater<K>,
): Promise<T> {
  let step = asking.next();
  while (step.done !== true)
    step = asking.next(await Promise.all(step.value.map((question) => settleLater(question, answers))));
  return step.value;
}

function settle<K extends QuestionKind>({ kind, input }: Question<K>, answers: AnswersNow<K>): Settled {
  try {
    return { output: answers[kind](input) };
  } catch (error) {
    return { error };
  }
}

async function settleLater<K extends QuestionKind>(
  { kind, input }: Question<K>,
  answers: AnswersLater<K>,
): Promise<Settled> {
  try {
    return { output: await answers[kind](input) };
  } catch (error) {
    return { error };
  }
}
