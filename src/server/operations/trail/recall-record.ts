// The record of a recall for answers, with explanations in sentences.

import { CHANGES, type Change } from '../../../engine/calls/recall.ts';
import type { ExclusionReason } from '../../../engine/govern/trail/exclusions.ts';
import type { KeptTurn } from '../../../engine/govern/trail/provenance.ts';
import { explain } from '../../../engine/recall/stages/explain.ts';
import { TEXT_TERMS, type TextTerm } from '../../../engine/recall/stages/hit.ts';
import type { JsonObject, RecallRecordView } from '../../../shards/protocol.ts';
import { COUNT, listOf, objectOf, TEXT, withMembers } from '../json-schema.ts';
import { outsideSchema } from '../names.ts';
import { described, Type } from '../type.ts';

const JsonObjectOf = Type.Unsafe<JsonObject>({ type: 'object' });

export const Summary = Type.Object({
  recallId: Type.String({ description: 'Id of the record: SHA-256 of its content, 64 hexadecimal digits.' }),
  timestamp: Type.Integer({ description: 'Time of the recall in Unix seconds.' }),
  namespace: Type.String({ description: 'Namespace that the recall was about; empty for all.' }),
  queryMode: Type.String({ description: 'Mode of the recall: structural, text, hybrid, chain, cal or harness.' }),
  candidateCount: Type.Integer({ description: 'Number of candidates.' }),
  resultCount: Type.Integer({ description: 'Number of results.' }),
  principal: Type.String({ description: 'Principal that recalled.' }),
});

export const Record = Type.Object({
  ...Summary.properties,
  query: described(JsonObjectOf, 'The query without its text: flags, options and blind tokens.'),
  results: Type.Array(JsonObjectOf, { description: 'The results by rank, with the terms of their scores.' }),
  excluded: Type.Array(JsonObjectOf, {
    description: 'The first 200 candidates that were left out, each with its reason.',
  }),
  excludedCounts: Type.Unsafe<Readonly<globalThis.Record<string, number>>>({
    type: 'object',
    description: 'Number of candidates that were left out, by reason.',
  }),
  excludedTotal: Type.Integer({ description: 'Number of all candidates that were left out.' }),
  nonce: Type.Integer({ description: 'Number that makes the ids of equal recalls differ.' }),
  requestId: Type.String({ description: 'Id of the request that recalled.' }),
  auditEntryHash: Type.String({ description: 'Hash of the audit entry; empty where reads are not audited.' }),
  verified: Type.Boolean({ description: 'Whether the id still matches the record, or what an erasure left of it.' }),
  redacted: Type.Boolean({ description: 'Whether an erasure removed names and the user from the record.' }),
  harnessTurn: Type.Optional(
    described(
      Type.Object({
        slug: Type.String({ description: 'Slug of the harness.' }),
        conversationId: Type.String({ description: 'Id of the conversation.' }),
        userEventHash: Type.String({ description: 'Hash of the event with the message; empty if it may not be seen.' }),
        assistantEventHash: Type.Union([Type.String(), Type.Null()], {
          description: 'Hash of the event with the answer; null for a turn that was paused or has failed.',
        }),
        actionHashes: Type.Array(Type.String(), { description: 'Hashes of the actions of the turn.' }),
        model: Type.String({ description: 'Model that answered.' }),
        provider: Type.String({ description: 'Provider of the model.' }),
      }),
      'The turn of a harness that showed the results to a model; absent for any other record.',
    ),
  ),
});

/** The turn that a record names by the ranks of its grains. */
export function harnessTurnOf({ query, results }: Pick<RecallRecordView, 'query' | 'results'>) {
  const turn = query['harness'] as KeptTurn | undefined; // as the shard keeps it
  if (turn === undefined) return undefined;
  const hashAt = (rank: number): string => {
    const hash = results[rank - 1]?.['hash'];
    return typeof hash === 'string' ? hash : '';
  };
  return {
    slug: turn.slug,
    conversationId: turn.conversation_id,
    userEventHash: hashAt(turn.user_event_rank),
    assistantEventHash: turn.assistant_event_rank === null ? null : hashAt(turn.assistant_event_rank),
    actionHashes: turn.action_ranks.map(hashAt),
    model: turn.model,
    provider: turn.provider,
  };
}

/** Names a grain as the trail does, or by its hash in records of older builds. Grains of erased people have no name. */
const NAMED = {
  grain: described(TEXT, 'Name that the trail gives the grain; absent for an erased user.'),
  hash: {
    type: 'string',
    pattern: '^([0-9a-f]{64})?$',
    description: 'Hash of the grain in a record of an older build; empty for an erased user.',
  },
};

/** Schema of the record, with the items of its lists. */
export const RECORD = withMembers(outsideSchema(Record), {
  results: described(
    listOf(
      objectOf(
        { rank: described(COUNT, 'Rank of the result, from 1.') },
        {
          ...NAMED,
          score_breakdown: {
            type: 'object',
            additionalProperties: { type: 'number' },
            description: "Terms of the score; see the breakdown of a recall's hit.",
          },
          explanation: described(TEXT, 'Why the grain is at this rank; only with explain.'),
        },
      ),
    ),
    'The results by rank, with the terms of their scores.',
  ),
  excluded: described(
    listOf(
      objectOf(
        { reason: described(TEXT, 'Why the candidate was left out.') },
        { ...NAMED, explanation: described(TEXT, 'The reason as a sentence; only with explain.') },
      ),
    ),
    'The first 200 candidates that were left out, each with its reason.',
  ),
});

/** Adds a sentence to each result and each exclusion. */
export function explained(record: RecallRecordView): RecallRecordView {
  return {
    ...record,
    results: record.results.map((result) => ({ ...result, explanation: resultText(result) })),
    excluded: record.excluded.map((one) => ({
      ...one,
      explanation: isKnownReason(one['reason']) ? REASON_TEXTS[one['reason']] : 'It was left out.',
    })),
  };
}

/** True for an exclusion reason that has its own sentence. */
export function isKnownReason(reason: unknown): reason is ExclusionReason {
  return typeof reason === 'string' && Object.hasOwn(REASON_TEXTS, reason);
}

function resultText(result: JsonObject): string {
  const score = result['score_breakdown'] as Readonly<globalThis.Record<string, number>>; // as the shard shows it
  const terms = pick(TEXT_TERMS, score, (term: TextTerm) => term);
  const changes = pick(CHANGES, score, (change: Change) =>
    change.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
  const rrf = score['rrf_score'];
  const base = rrf ?? Object.values(terms).reduce((sum, term) => sum + term, 0);
  const rank = `Rank ${String(result['rank'])}. `;
  return (
    rank +
    explain({
      score: score['final_score'] ?? 0,
      breakdown: {
        base,
        rrf,
        bm25Rank: score['bm25_rank'],
        vectorScore: score['vector_score'],
        terms,
        changes,
      },
      recallSource: 'primary',
    })
  );
}

function pick<N extends string>(
  names: readonly N[],
  score: Readonly<globalThis.Record<string, number>>,
  outside: (name: N) => string,
): Partial<globalThis.Record<N, number>> {
  const found: Partial<globalThis.Record<N, number>> = {};
  for (const name of names) {
    const value = score[outside(name)];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

const REASON_TEXTS: Readonly<globalThis.Record<ExclusionReason, string>> = {
  processing_restricted: 'The processing of its person is restricted.',
  consent_revoked: 'Its person has withdrawn consent.',
  access_denied: 'The caller may not see it.',
  ttl_expired: 'Its time to live has expired.',
  scope_mismatch: 'It is outside the requested scope.',
  namespace_mismatch: 'It is in another namespace.',
  user_mismatch: 'It belongs to another user.',
  type_mismatch: 'It is of another type.',
  tag_mismatch: 'It lacks a requested tag.',
  tag_excluded: 'It has a tag that was excluded.',
  subject_mismatch: 'It has another subject.',
  relation_mismatch: 'It has another relation.',
  object_mismatch: 'It has another object.',
  entity_mismatch: 'It is not about the requested entity.',
  time_out_of_range: 'It is outside the requested time.',
  below_confidence: 'Its confidence is below the threshold.',
  below_importance: 'Its importance is below the threshold.',
  below_min_score: 'Its relevance is below the requested minimum.',
  superseded: 'A later version replaced it.',
  supersession_demoted: 'It fell below the limit since a later version replaced it.',
  contradicted: 'It fell below the limit since it is retracted, or a newer grain contradicts it.',
  contradicted_filtered: 'It is retracted, or a newer grain contradicts it, and such grains were not requested.',
  conflict_resolved: 'A newer or more specific grain about the same thing was kept in its place.',
  deduplicated: 'It says the same as a grain that was kept.',
  diversity_filtered: 'It is too similar to grains that were kept.',
  namespace_capped: 'Its namespace is not among the requested number of best ones.',
  budget_capped: 'The budget of the expansion was spent.',
  limit_exceeded: 'It ranks below the requested number of hits.',
};
