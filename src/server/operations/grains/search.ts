import Type from 'typebox';
import { defineOperation } from '../define.ts';
import { HitOutput, hitOutput } from './hit-output.ts';
import { QUERY_CUT } from './recall-cuts.ts';
import { recallQuery } from './recall-query.ts';

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
    warnings: Type.Optional(Type.Array(Type.String())),
  }),
  errors: ['VAL-E003', 'MEM-E005'],
  http: [{ verb: 'POST', path: 'M/search' }],
  async run(input, context) {
    const { query, warnings } = recallQuery(input);
    const { hits, queryCut } = await context.call('recall', { ...query, wordsOnly: true, record: { asked: false } });
    const told = [...warnings, ...(queryCut === true ? [QUERY_CUT] : [])];
    return {
      count: hits.length,
      results: hits.map((hit) => hitOutput(hit)),
      ...(told.length === 0 ? {} : { warnings: told }),
    };
  },
});
