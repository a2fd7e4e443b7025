// Warnings of a recall whose answer was limited or differs from the request.
import {
  EMBED_TEXT_CHARS_MAX,
  EMBED_WINDOW_WORDS_MAX,
  QUERY_CHARS_MAX,
  QUERY_CLAUSES_MAX,
  QUERY_TERMS_MAX,
  SOURCES_MAX,
} from '../../../engine/base/limits.ts';
import type { RecallHit } from '../../../engine/calls/recall.ts';
import type { Output as Found } from '../../../shards/protocol.ts';
import type { RecallInput } from './fields.ts';

type Cuts = Pick<Found<'recall'>, 'queryCut' | 'legCut' | 'sourcesCut' | 'entities' | 'recallId' | 'total'> & {
  readonly hits: readonly Pick<RecallHit, 'unmet'>[];
};

export const QUERY_CUT =
  `the query is longer than ${QUERY_CHARS_MAX} characters, ${QUERY_TERMS_MAX} words or ` +
  `${QUERY_CLAUSES_MAX} operators: the rest was ignored`;

export function cutWarnings(input: RecallInput, found: Cuts, candidateLimit: number): string[] {
  const { hits, total, queryCut, legCut, sourcesCut, entities, recallId } = found;
  const warnings: string[] = [];
  if (queryCut === true) warnings.push(QUERY_CUT);
  if (legCut === true)
    warnings.push(`total_candidates is a lower bound: a leg ended at candidate_limit ${candidateLimit}`);
  if (sourcesCut === true)
    warnings.push(`the hits have more than ${SOURCES_MAX} sources: \`sources\` has those of the best hits`);
  if (entities !== undefined && (legCut === true || total > hits.length))
    warnings.push(
      `count_entities counts the subjects of the ${hits.length} hits of this answer, of ${total} candidates`,
    );
  const met = hits.filter(({ unmet }) => unmet !== true).length;
  if (met < hits.length)
    warnings.push(
      `${met} of the ${hits.length} hits meet the operators of the query; the others answer its words: ` +
        'query_mode "operators" makes operators conditions',
    );
  if (input.recordProvenance === false && recallId !== undefined)
    warnings.push('record_provenance false was overridden: the policy of this memory keeps a record of every recall');
  return warnings;
}

/** Warns when the question is too long for the embedder, which reads only its beginning. */
export function vectorCut(text: string): string[] {
  if (text.length <= EMBED_TEXT_CHARS_MAX && wordsOf(text) <= EMBED_WINDOW_WORDS_MAX) return [];
  return [
    `the query is too long to embed as a whole: its vector covers about its first ${EMBED_WINDOW_WORDS_MAX} words`,
  ];
}

function wordsOf(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
