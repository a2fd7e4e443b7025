import { ProvenanceSummaryRequest, ProvenanceSummaryResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation, rpc } from '../define.ts';
import { type Static, Type } from '../type.ts';
import { checkSpan } from './provenance-list.ts';

const Counts = Type.Unsafe<Readonly<Record<string, number>>>({ type: 'object' });

const Output = Type.Object({
  totalRecords: Type.Integer(),
  meanCandidates: Type.Number(),
  meanResults: Type.Number(),
  zeroResultCount: Type.Integer(),
  byMode: Counts,
  byExclusion: Counts,
  oldest: Type.Optional(Type.Integer()),
  newest: Type.Optional(Type.Integer()),
});

export const provenanceSummary = defineOperation({
  name: 'provenance_summary',
  summary: 'How many recalls left a record, by mode, and why candidates were left out.',
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  slow: true,
  input: Type.Object({ since: Type.Optional(Type.Integer()), until: Type.Optional(Type.Integer()) }),
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
    const { candidates, results, ...totals } = await context.call('recallTotals', {
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    });
    const count = Math.max(1, totals.totalRecords);
    return { ...totals, meanCandidates: candidates / count, meanResults: results / count };
  },
});
