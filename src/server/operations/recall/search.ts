import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';
import { QUERY_CUT } from './cuts.ts';
import { HitOutput, hitOutput, truncatedWarning } from './hit-output.ts';
import { recallQuery } from './query.ts';

export const search = defineOperation({
  name: 'search',
  summary: 'Find grains by words alone (BM25).',
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Type.Object({
    query: Type.String({ minLength: 1 }),
    limit: Type.Optional(Type.Integer({ minimum: 0 })),
    namespace: Type.Optional(Type.String()),
    grainType: Type.Optional(Type.String()),
    userId: Type.Optional(Type.String()),
  }),
  output: Type.Object({
    count: Type.Integer(),
    results: Type.Array(HitOutput),
    truncated: Type.Optional(Type.Literal(true)),
    warnings: Type.Optional(Type.Array(Type.String())),
  }),
  errors: ['VAL-E003', 'MEM-E005'],
  http: [{ verb: 'POST', path: 'M/search' }],
  async run(input, context) {
    const { query, warnings } = recallQuery(input);
    const { hits, truncated, queryCut } = await context.call('recall', {
      ...query,
      wordsOnly: true,
      record: { asked: false },
    });
    const told = [
      ...warnings,
      ...(queryCut === true ? [QUERY_CUT] : []),
      ...(truncated === true ? [truncatedWarning(hits.length)] : []),
    ];
    return {
      count: hits.length,
      results: hits.map((hit) => hitOutput(hit)),
      ...(truncated === undefined ? {} : { truncated }),
      ...(told.length === 0 ? {} : { warnings: told }),
    };
  },
});
