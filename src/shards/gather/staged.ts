// Runs a recall with stages asynchronously: over several partitions, each of which gets every question of a stage, or
// on the main thread, which waits for a model between two stages.

import { answerLater } from '../../engine/asking/asking.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { defined } from '../../engine/base/defined.ts';
import { RECALL_HELD_BYTES_MAX } from '../../engine/base/limits.ts';
import { AnswerRoom } from '../../engine/grain/api/answer-room.ts';
import { shownExcluded } from '../../engine/recall/exclusion-tally.ts';
import { recallRecordContent } from '../../engine/recall/record-content.ts';
import { alikeOf } from '../../engine/recall/stages/expansion.ts';
import { type Rerank, recallStaged } from '../../engine/recall/stages/recall-output.ts';
import type { GrainFilter, GrainView, Input, Output, RecallQuery, RecallRecordContent } from '../protocol.ts';
import { type CallMemory, type RecallMethod, recallAnswers } from './answers.ts';
import type { Fan } from './fan.ts';
import { type GrainPlace, keepRecallWithNames } from './names.ts';
import { bytesOf, gatherRecall } from './recall.ts';
import type { Held } from './room.ts';
import { withAllSources } from './sources.ts';

/**
 * `call` must answer recalls without options. With `rerank`, the model reorders the best hits at the point that the
 * contract defines.
 */
export function recallInStages(
  query: RecallQuery,
  call: CallMemory<RecallMethod>,
  rerank?: Rerank,
): Promise<Output<'recall'>> {
  const tools = { nowMs: systemClock.nowMs(), reranks: rerank !== undefined };
  return answerLater(recallStaged(query, tools), recallAnswers(call, rerank));
}

export async function gatherStagedRecall(fan: Fan, query: RecallQuery, held: Held): Promise<Output<'recall'>> {
  const places = new Map<string, GrainPlace>();
  const answers: { readonly [M in RecallMethod]: (input: Input<M>) => Promise<Output<M>> } = {
    recall: (plain) => gatherRecall(fan, plain, { held, places }),
    fetch: async ({ hashes }) => ({ grains: await fetchAnywhere(fan, hashes, held) }),
    namespaces: (input) => gatherNamespaces(fan, input),
    alike: (input) => gatherAlike(fan, input),
    meanings: (input) => gatherMeanings(fan, input),
  };
  const found = await recallInStages(query, (method, input) => answers[method](input));
  return query.record === undefined
    ? found
    : recorded(query, found, (content) => keepRecallWithNames(fan, content, places));
}

/** Leaves the recall record and returns the caller's answer with the record's id. */
export async function recorded(
  query: RecallQuery,
  found: Output<'recall'>,
  keep: (content: RecallRecordContent) => Promise<Output<'keepRecall'>>,
): Promise<Output<'recall'>> {
  const { beyond: _, excluded, ...rest } = found;
  return defined({
    ...rest,
    // Unless the caller asked for them, exclusions are for the record only.
    excluded: shownExcluded(query, excluded),
    ...(await keep(recallRecordContent(query, found))),
  });
}

export async function gatherNamespaces(
  fan: Fan,
  input: { readonly filter: GrainFilter },
): Promise<Output<'namespaces'>> {
  const answers = await fan.all('namespaces', input);
  return { namespaces: [...new Set(answers.flatMap(({ namespaces }) => namespaces))] };
}

/** Similar words, as a single partition with the vocabulary of all would give them. */
export async function gatherAlike(fan: Fan, input: Input<'alike'>): Promise<Output<'alike'>> {
  const answers = await fan.all('alike', input);
  const alike = alikeOf(answers, input.limit);
  return {
    words: alike.map((meant, at) => {
      const here = answers.flatMap(({ words }) => words[at] ?? []);
      const similarityOf = (word: string): number =>
        Math.max(...here.flatMap((found) => found.alike.flatMap((one) => (one.word === word ? one.similarity : []))));
      return {
        known: here.some(({ known }) => known),
        alike: meant.map((word) => ({ word, similarity: similarityOf(word) })),
      };
    }),
  };
}

/** Vectors of the most frequent embedder only. Partitions may differ while a memory changes its embedder. */
export async function gatherMeanings(fan: Fan, { hashes }: Input<'meanings'>): Promise<Output<'meanings'>> {
  const answers = await fan.all('meanings', { hashes });
  const counts = new Map<string, number>();
  for (const { embedder, vectors } of answers)
    counts.set(embedder, (counts.get(embedder) ?? 0) + vectors.filter((vector) => vector !== null).length);
  const [embedder = ''] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  const those = answers.filter((answer) => answer.embedder === embedder);
  const vectorAt = (at: number): Uint8Array | null =>
    those.map(({ vectors }) => vectors[at] ?? null).find((vector) => vector !== null) ?? null;
  return { embedder, vectors: hashes.map((_, at) => vectorAt(at)) };
}

/**
 * Each grain from whichever partition has it, in the order of the hashes. Returns fewer grains if all together exceed
 * the bytes of one recall. A round requests at most that many bytes over all partitions together.
 */
export async function fetchAnywhere(fan: Fan, hashes: readonly string[], held: Held): Promise<(GrainView | null)[]> {
  const room = new AnswerRoom(RECALL_HELD_BYTES_MAX);
  const grains: (GrainView | null)[] = [];
  while (grains.length < hashes.length) {
    const bytesMax = Math.ceil((await held.room(RECALL_HELD_BYTES_MAX)) / fan.partitions);
    const answers = await fan.all('fetch', { hashes: hashes.slice(grains.length), bytesMax });
    for (const answer of answers) held.add(bytesOf(answer.grains));
    // Beyond this position some partition has not answered yet, so a null does not mean that the grain is missing.
    const answered = Math.min(...answers.map((answer) => answer.grains.length));
    for (let at = 0; at < answered; at += 1) {
      const grain = answers.map((answer) => answer.grains[at]).find((one) => one != null) ?? null;
      if (grain !== null && !room.takesBytes(grain.sizeBytes)) return withAllSources(fan, grains);
      grains.push(grain);
    }
  }
  return withAllSources(fan, grains);
}
