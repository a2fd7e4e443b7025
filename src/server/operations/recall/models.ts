// The steps of a recall that call models: a hypothetical answer for the vector leg (hyde) and reordering of the best hits
// (rerank, llm_rerank). A step that fails or exceeds its time is skipped with a warning.

import { steadyMs } from '../../../engine/base/clock.ts';
import { MODEL_WAIT_MS } from '../../../engine/base/limits.ts';
import { packVectors, unpackVectors } from '../../../engine/index/vectors/transfer.ts';
import { textOf } from '../../../engine/recall/stages/hit.ts';
import type { Rerank } from '../../../engine/recall/stages/recall-output.ts';
import type { Context } from '../../context.ts';
import type { QueryVector } from '../../embedding/query-vector.ts';
import { ModelError, type Orders } from '../../models/models.ts';
import { personsOf } from '../../models/persons.ts';
import type { Order } from '../../models/reranker.ts';
import { given, type RecallInput } from './fields.ts';

/** Time in milliseconds that models leave for the recall itself. */
const RECALL_MS = 2_000;

/** The request with the fields `done` switched off, because the main thread has handled them. */
export function modelsDone(input: RecallInput, done: readonly (keyof RecallInput)[]): RecallInput {
  return { ...input, ...Object.fromEntries(done.map((name) => [name, false])) };
}

/** The person whose question it is; undefined: nobody's. */
export function askerOf({ userId }: Pick<RecallInput, 'userId'>, context: Pick<Context, 'userId'>): string | undefined {
  return given(userId) ? userId : context.userId;
}

function timeLeft({ deadlineMs, services: { clock } }: Context): number {
  return Math.min(MODEL_WAIT_MS, deadlineMs - steadyMs(clock) - RECALL_MS);
}

/**
 * The query vector. With hyde and a language model it is the mean of the vectors of the question and of a hypothetical
 * answer, because questions are seldom worded like their answers.
 */
export async function questionVector(
  input: RecallInput,
  text: string,
  context: Context,
  embed: (text: string) => Promise<QueryVector>,
): Promise<{
  readonly vector?: QueryVector['vector'] | undefined;
  readonly warnings: readonly string[];
  readonly hydeDone: boolean;
}> {
  const { embedders, recallModels } = context.services;
  const asksModel = input.hyde === true && recallModels.canImagine;
  const hasVectors = embedders.nameOf(context.memory.vectorBackend ?? '') !== 'none';
  const [own, imagined] = await Promise.all([
    embed(text),
    asksModel && hasVectors ? hypothesis(text, askerOf(input, context), context) : undefined,
  ]);
  const warnings = own.warning === undefined ? [] : [own.warning];
  const { vector } = own;
  const ends = (hyde: string | undefined, found = vector) => ({
    vector: found,
    warnings: hyde === undefined ? warnings : [...warnings, `hyde was ignored: ${hyde}`],
    hydeDone: true,
  });
  if (!asksModel) return { ...ends(undefined), hydeDone: false };
  if (imagined === undefined || vector === undefined) return ends('there are no vectors');
  if ('failure' in imagined) return ends(imagined.failure);
  const joined = meanOf(vector, (await embed(imagined.text)).vector);
  return joined === undefined ? ends('the hypothetical answer could not be embedded') : ends(undefined, joined);
}

type Imagined = { readonly text: string } | { readonly failure: string };

async function hypothesis(question: string, asker: string | undefined, context: Context): Promise<Imagined> {
  try {
    const asked = { question, persons: personsOf([{ userId: asker }]), waitMs: timeLeft(context) };
    return { text: await context.services.recallModels.imagine(context.memory, asked) };
  } catch (error) {
    if (error instanceof ModelError) return { failure: error.message };
    throw error;
  }
}

/** The mean, not normalised; undefined if embedders or dimensions differ. A query vector need not have unit length. */
function meanOf(
  question: NonNullable<QueryVector['vector']>,
  answer: QueryVector['vector'],
): QueryVector['vector'] | undefined {
  if (answer === undefined || answer.embedder !== question.embedder) return undefined;
  const [one] = unpackVectors(question.bytes, question.bytes.length / Float32Array.BYTES_PER_ELEMENT);
  const [other] = unpackVectors(answer.bytes, answer.bytes.length / Float32Array.BYTES_PER_ELEMENT);
  if (one === undefined || other === undefined || one.length !== other.length) return undefined;
  return { ...question, bytes: packVectors([one.map((value, at) => (value + other[at]!) / 2)]) };
}

export interface Reranking {
  /** The request's fields that this step handles. */
  readonly fields: readonly ('rerank' | 'llmRerank')[];
  readonly rerank: Rerank;
  /** Filled while `rerank` runs. */
  readonly warnings: string[];
}

/** The reordering that the request asks for, reranker first; undefined if it asks for none or no model is available. */
export function rerankingOf(input: RecallInput, text: string, context: Context): Reranking | undefined {
  const { recallModels } = context.services;
  const steps: { readonly field: 'rerank' | 'llmRerank'; readonly orders: Orders }[] = [];
  const add = (field: 'rerank' | 'llmRerank', orders: Orders | undefined): void => {
    if (input[field] === true && orders !== undefined) steps.push({ field, orders });
  };
  add('rerank', recallModels.reranker);
  add('llmRerank', recallModels.listwise);
  if (steps.length === 0 || text === '') return undefined;
  const warnings: string[] = [];
  return {
    fields: steps.map(({ field }) => field),
    warnings,
    rerank: async (hits) => {
      const passages = hits.map(({ grain }) => textOf(grain));
      let order: Order | undefined;
      // One model gives one order.
      const asked = steps.filter(
        ({ orders }, at) => steps.findIndex((one) => one.orders.model === orders.model) === at,
      );
      for (const { field, orders } of asked) {
        const before: Order = order ?? [...hits.keys()];
        const first = before.slice(0, orders.most);
        try {
          const places = await orders.order(context.memory, {
            question: text,
            passages: first.map((at) => passages[at]!),
            persons: personsOf([{ userId: askerOf(input, context) }, ...first.map((at) => hits[at]!.grain)]),
            waitMs: timeLeft(context),
          });
          order = [...places.map((at) => first[at]!), ...before.slice(orders.most)];
        } catch (error) {
          if (!(error instanceof ModelError)) throw error;
          warnings.push(`${field === 'rerank' ? 'rerank' : 'llm_rerank'} was ignored: ${error.message}`);
        }
      }
      return order;
    },
  };
}
