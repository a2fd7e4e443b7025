import { defined } from '../../../engine/base/defined.ts';
import { ProvenanceSummaryRequest, ProvenanceSummaryResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { described, type Static, Type } from '../type.ts';
import { checkSpan } from './provenance-list.ts';

const Counts = Type.Unsafe<Readonly<Record<string, number>>>({ type: 'object' });

const Output = Type.Object({
  totalRecords: Type.Integer({ description: 'Number of records.' }),
  meanCandidates: Type.Number({ description: 'Mean number of candidates of a recall.' }),
  meanResults: Type.Number({ description: 'Mean number of results of a recall.' }),
  zeroResultCount: Type.Integer({ description: 'Number of recalls that found nothing.' }),
  byMode: described(Counts, 'Number of records by query mode.'),
  byExclusion: described(Counts, 'Number of candidates that were left out, by reason.'),
  oldest: Type.Optional(
    Type.Integer({ description: 'Time of the oldest record in Unix seconds; absent where there is none.' }),
  ),
  newest: Type.Optional(
    Type.Integer({ description: 'Time of the newest record in Unix seconds; absent where there is none.' }),
  ),
});

export const provenanceSummary = defineOperation({
  name: 'provenance_summary',
  summary: 'Count the recalls that left a record, by mode, and the candidates that they left out, by reason.',
  description: 'Without since and until it counts every record that is kept.',
  example: { since: 1767225600 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  slow: true,
  input: Type.Object({
    since: Type.Optional(Type.Integer({ description: 'Only recalls from this time on, in Unix seconds.' })),
    until: Type.Optional(Type.Integer({ description: 'Only recalls up to this time, in Unix seconds.' })),
  }),
  output: Output,
  errors: ['VAL-E001'],
  http: [{ verb: 'GET', path: 'M/provenance/summary' }],
  grpc: rpc({
    rpc: 'ProvenanceSummary',
    request: ProvenanceSummaryRequest,
    response: ProvenanceSummaryResponse,
    write: ({ byMode, byExclusion, ...totals }: Static<typeof Output>) => ({
      ...totals,
      byModeJson: JSON.stringify(byMode),
      byExclusionJson: JSON.stringify(byExclusion),
    }),
  }),
  async run({ since, until }, context) {
    checkSpan(since, until);
    const { candidates, results, ...totals } = await context.call(
      'recallTotals',
      defined({
        since,
        until,
      }),
    );
    const count = Math.max(1, totals.totalRecords);
    return { ...totals, meanCandidates: candidates / count, meanResults: results / count };
  },
});
