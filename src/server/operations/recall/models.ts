// The steps of a recall that call models: a hypothetical answer for the vector leg (hyde) and reordering of the best hits
// (rerank, llm_rerank). A step that fails or exceeds its time is skipped with a warning.

import {
  MODEL_PASSAGE_CHARS_MAX,
  MODEL_QUESTION_CHARS_MAX,
  MODEL_WAIT_MS,
  SLICE_MS,
} from '../../../engine/base/limits.ts';
import { packVectors, unpackVectors } from '../../../engine/index/vectors/transfer.ts';
import { textOf } from '../../../engine/recall/stages/hit.ts';
import type { Rerank } from '../../../engine/recall/stages/recall-output.ts';
import type { Config } from '../../config.ts';
import type { Context } from '../../context.ts';
import { type Leaving, leavingForModel } from '../../embedding/egress.ts';
import type { QueryVector } from '../../embedding/query-vector.ts';
import { LISTWISE_MAX, type Order } from '../../models/models.ts';
import { ModelError } from '../../models/service.ts';
import type { RecallInput } from './fields.ts';

const KEPT = "the memory's policy forbids sending its texts to external services";
/** Time in milliseconds that models leave for the recall itself. */
const RECALL_MS = 2_000;

/** True when the deployment has a model. Only the main thread calls models. */
export function hasModels({ modelUrl, rerankUrl }: Pick<Config, 'modelUrl' | 'rerankUrl'>): boolean {
  return modelUrl !== undefined || rerankUrl !== undefined;
}

/** The request with the fields `done` switched off, because the main thread has handled them. */
export function modelsDone(input: RecallInput, done: readonly (keyof RecallInput)[]): RecallInput {
  return { ...input, ...Object.fromEntries(done.map((name) => [name, false])) };
}

function timeLeft({ deadlineMs, services: { clock } }: Context): number {
  return Math.min(MODEL_WAIT_MS, deadlineMs - clock.nowMs() - RECALL_MS);
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
  const { imagine } = recallModels;
  const hasVectors = embedders.nameOf(context.memory.vectorBackend ?? '') !== 'none';
  const leaving = leavingForModel(context.memory, context.services.config.modelUrl);
  const asksModel = input.hyde === true && imagine !== undefined && hasVectors && leaving !== undefined;
  const [own, imagined] = await Promise.all([
    embed(text),
    asksModel ? hypothesis(leaving(beginning(text, MODEL_QUESTION_CHARS_MAX)), context, imagine) : undefined,
  ]);
  const warnings = own.warning === undefined ? [] : [own.warning];
  const { vector } = own;
  const ends = (hyde: string | undefined, found = vector) => ({
    vector: found,
    warnings: hyde === undefined ? warnings : [...warnings, `hyde was ignored: ${hyde}`],
    hydeDone: true,
  });
  if (input.hyde !== true || imagine === undefined) return { ...ends(undefined), hydeDone: false };
  if (leaving === undefined) return ends(KEPT);
  if (imagined === undefined || vector === undefined) return ends('there are no vectors');
  if ('failure' in imagined) return ends(imagined.failure);
  const joined = meanOf(vector, (await embed(imagined.text)).vector);
  return joined === undefined ? ends('the hypothetical answer could not be embedded') : ends(undefined, joined);
}

type Imagined = { readonly text: string } | { readonly failure: string };

async function hypothesis(
  text: string,
  context: Context,
  imagine: NonNullable<Context['services']['recallModels']['imagine']>,
): Promise<Imagined> {
  try {
    return { text: await imagine(text, timeLeft(context)) };
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
  const { rerank, orderListwise } = context.services.recallModels;
  const { modelUrl, rerankUrl = modelUrl } = context.services.config;
  const steps = [
    ...(input.rerank === true && rerank !== undefined
      ? [{ field: 'rerank' as const, ask: rerank, most: Infinity, url: rerankUrl }]
      : []),
    ...(input.llmRerank === true && orderListwise !== undefined
      ? [{ field: 'llmRerank' as const, ask: orderListwise, most: LISTWISE_MAX, url: modelUrl }]
      : []),
  ];
  if (steps.length === 0 || text === '') return undefined;
  const warnings: string[] = [];
  return {
    fields: steps.map(({ field }) => field),
    warnings,
    rerank: async (hits) => {
      const passages = hits.map(({ grain }) => textOf(grain));
      let order: Order | undefined;
      for (const { field, ask, most, url } of steps) {
        const leaving = leavingForModel(context.memory, url);
        if (leaving === undefined) {
          warnings.push(`${field === 'rerank' ? 'rerank' : 'llm_rerank'} was ignored: ${KEPT}`);
          continue;
        }
        const before: Order = order ?? [...hits.keys()];
        const first = before.slice(0, most);
        try {
          const sent = await allLeaving(
            first.map((at) => passages[at]!),
            leaving,
          );
          const question = leaving(beginning(text, MODEL_QUESTION_CHARS_MAX));
          const places = await ask(question, sent, timeLeft(context));
          order = [...places.map((at) => first[at]!), ...before.slice(most)];
        } catch (error) {
          if (!(error instanceof ModelError)) throw error;
          warnings.push(`${field === 'rerank' ? 'rerank' : 'llm_rerank'} was ignored: ${error.message}`);
        }
      }
      return order;
    },
  };
}

/** Cuts and redacts the passages for a model. Yields to the event loop between slices, as redaction can take some ms. */
async function allLeaving(passages: readonly string[], leaving: Leaving): Promise<string[]> {
  const sent: string[] = [];
  let untilMs = performance.now() + SLICE_MS;
  for (const passage of passages) {
    sent.push(leaving(beginning(passage, MODEL_PASSAGE_CHARS_MAX)));
    if (performance.now() < untilMs) continue;
    await new Promise(setImmediate);
    untilMs = performance.now() + SLICE_MS;
  }
  return sent;
}

/** Cuts a long text at a word boundary: redaction might not recognise half a name or number. */
function beginning(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const cut = text.slice(0, charsMax);
  const end = Math.max(cut.lastIndexOf(' '), cut.lastIndexOf('\n'));
  // Text without spaces is cut at the limit.
  return end < charsMax / 2 ? cut : cut.slice(0, end);
}
