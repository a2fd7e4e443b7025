// Where a recall waits for models: a hypothetical answer for the vector leg (hyde), and the order of the best hits (rerank,
// llm_rerank). What a model cannot do in time is left out, and the answer says so.

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

const KEPT = "the memory's policy keeps its texts from services outside";
/** Left for the recall itself when models have had their time. */
const RECALL_MS = 2_000;

/** True where a model may have to be waited for: workers know none. */
export function hasModels({ modelUrl, rerankUrl }: Pick<Config, 'modelUrl' | 'rerankUrl'>): boolean {
  return modelUrl !== undefined || rerankUrl !== undefined;
}

/** The request without what has been done for it here. */
export function modelsDone(input: RecallInput, done: readonly (keyof RecallInput)[]): RecallInput {
  return { ...input, ...Object.fromEntries(done.map((name) => [name, false])) };
}

function timeLeft({ deadlineMs, services: { clock } }: Context): number {
  return Math.min(MODEL_WAIT_MS, deadlineMs - clock.nowMs() - RECALL_MS);
}

/**
 * The vector of a question, and where hyde is asked for and there is a language model, the mean of its own and of its
 * hypothetical answer's: a question alone is seldom worded like what answers it.
 */
export async function questionVector(
  input: RecallInput,
  text: string,
  context: Context,
  embed: (text: string) => Promise<QueryVector>,
): Promise<{
  readonly vector?: QueryVector['vector'];
  readonly warnings: readonly string[];
  readonly hydeDone: boolean;
}> {
  const { embedders, models } = context.services;
  const { imagine } = models;
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
    ...(found === undefined ? {} : { vector: found }),
    warnings: hyde === undefined ? warnings : [...warnings, `hyde was ignored: ${hyde}`],
    hydeDone: true,
  });
  if (input.hyde !== true || imagine === undefined) return { ...ends(undefined), hydeDone: false };
  if (leaving === undefined) return ends(KEPT);
  if (imagined === undefined || vector === undefined) return ends('there are no vectors');
  if ('failure' in imagined) return ends(imagined.failure);
  const joined = meanOf(vector, (await embed(imagined.text)).vector);
  return joined === undefined ? ends('its answer has no vector') : ends(undefined, joined);
}

type Imagined = { readonly text: string } | { readonly failure: string };

async function hypothesis(
  text: string,
  context: Context,
  imagine: NonNullable<Context['services']['models']['imagine']>,
): Promise<Imagined> {
  try {
    return { text: await imagine(text, timeLeft(context)) };
  } catch (error) {
    if (error instanceof ModelError) return { failure: error.message };
    throw error;
  }
}

/** Undefined where they cannot be compared. Of no particular length: a query's vector need not be a unit. */
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
  /** The fields that it stands for. */
  readonly fields: readonly ('rerank' | 'llmRerank')[];
  readonly rerank: Rerank;
  /** What went wrong, once it has run. */
  readonly warnings: string[];
}

/** The order that the request asks of models, the reranker's first; undefined where it asks for none, or none is there. */
export function rerankingOf(input: RecallInput, text: string, context: Context): Reranking | undefined {
  const { rerank, orderListwise } = context.services.models;
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

/** As much of the passages as a model is sent, in the form in which it may leave: a slice at a time, as that may take some ms. */
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

/** Of a long text whole words: what a cut would leave of the last one might not be known for what it is. */
function beginning(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const cut = text.slice(0, charsMax);
  const end = Math.max(cut.lastIndexOf(' '), cut.lastIndexOf('\n'));
  // A script without blanks is cut where it is.
  return end < charsMax / 2 ? cut : cut.slice(0, end);
}
