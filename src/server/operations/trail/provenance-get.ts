import { defined } from '../../../engine/base/defined.ts';
import type { JsonObject, RecallRecordView } from '../../../shards/protocol.ts';
import { GetProvenanceRequest, GetProvenanceResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { Hash } from '../grains/view.ts';
import { rpc } from '../grpc-face.ts';
import { described, type Static, Type } from '../type.ts';
import { explained, harnessTurnOf, RECORD, Record } from './recall-record.ts';

export const provenanceGet = defineOperation({
  name: 'get_provenance',
  summary: 'Show the record of a recall: the query, the results and the exclusions.',
  description: 'The text of the query is not kept, only its hash.',
  example: { recall_id: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', explain: true },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Type.Object({
    recallId: described(Hash, 'Id of the record, as the recall answered it.'),
    explain: Type.Optional(
      Type.Boolean({
        description: 'Whether each result and exclusion is explained in a sentence; the default is false.',
        default: false,
      }),
    ),
  }),
  output: Record,
  errors: ['PRV-E001'],
  http: [{ verb: 'GET', path: 'M/provenance/{recall_id}', answer: RECORD }],
  grpc: rpc({
    rpc: 'GetProvenance',
    request: GetProvenanceRequest,
    response: GetProvenanceResponse,
    write: ({ query, results, excluded, harnessTurn: _, ...record }: Static<typeof Record>) => ({
      ...record,
      queryJson: JSON.stringify(query),
      resultsJson: JSON.stringify(results),
      excludedJson: JSON.stringify(excluded),
    }),
  }),
  async run({ recallId, explain }, context) {
    const record = await context.call('recallRecord', { recallId });
    const harnessTurn = harnessTurnOf(record);
    if (record.seen !== undefined) return { ...seenOfOthers(record), ...defined({ harnessTurn }) };
    const { results, excluded, ...shown } = explain === true ? explained(record) : record;
    const isBound = context.namespace !== undefined || context.userId !== undefined;
    const visible = (grains: readonly JsonObject[]) => (isBound ? grains.map(withoutName) : [...grains]);
    return { ...shown, results: visible(results), excluded: visible(excluded), ...defined({ harnessTurn }) };
  },
});

/** Removes the grain's log name: it contains a key id, which would reveal the activity of others. */
function withoutName({ grain: _, ...shown }: JsonObject): JsonObject {
  return shown;
}

/**
 * A record that a call without the binding of the reader made, with the grains within that binding alone. Scores rest on the
 * words of all grains, and are left out.
 */
function seenOfOthers({ seen, ...record }: RecallRecordView) {
  const results = record.results
    .filter(isNamed)
    .map(({ hash = '' }, i) => ({ rank: i + 1, hash, score_breakdown: {} }));
  const excluded = record.excluded.filter(isNamed).map(({ hash = '', reason = '' }) => ({ hash, reason }));
  const counts = Map.groupBy(excluded, ({ reason }) => String(reason));
  const { harness: _, ...query } = record.query;
  return {
    ...record,
    query,
    results,
    excluded,
    excludedCounts: Object.fromEntries([...counts].map(([reason, some]) => [reason, some.length])),
    excludedTotal: excluded.length,
    candidateCount: seen === 'part' ? results.length : record.candidateCount,
    resultCount: seen === 'part' ? results.length : record.resultCount,
  };
}

function isNamed({ hash }: JsonObject): boolean {
  return hash !== '';
}
