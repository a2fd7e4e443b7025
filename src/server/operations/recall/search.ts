import { RECALL_LIMIT_DEFAULT } from '../../../engine/base/limits.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';
import { QUERY_CUT } from './cuts.ts';
import { HitOutput, hitOutput, truncatedWarning } from './hit-output.ts';
import { recallQuery } from './query.ts';

export const search = defineOperation({
  name: 'search',
  summary: 'Find grains by words alone (BM25).',
  description: 'The order is that of BM25 alone: no vectors and no stages of a recall.',
  example: { query: 'tea +green -black', limit: 10 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  onAnyNode: true,
  mutates: false,
  input: Type.Object({
    query: Type.String({
      minLength: 1,
      description: 'Words to search for; "a phrase", +must, -not and field:term are operators.',
    }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Number of hits at most; 0 or absent is 20, and above 500 is treated as 500.',
        default: RECALL_LIMIT_DEFAULT,
      }),
    ),
    namespace: Type.Optional(Type.String({ description: 'Only grains of this namespace; the default is all.' })),
    grainType: Type.Optional(Type.String({ description: 'Only grains of this type; the default is all.' })),
    userId: Type.Optional(Type.String({ description: 'Only grains of this data subject.' })),
  }),
  output: Type.Object({
    count: Type.Integer({ description: 'Number of results.' }),
    results: Type.Array(HitOutput, { description: 'The hits, best first.' }),
    truncated: Type.Optional(
      Type.Literal(true, {
        description: 'True when the results end before the limit because they are too large together.',
      }),
    ),
    warnings: Type.Optional(Type.Array(Type.String(), { description: 'Which bounds were met.' })),
  }),
  errors: ['VAL-E003', 'MEM-E005'],
  http: [{ verb: 'POST', path: 'M/search' }],
  async run(input, context) {
    const { query, warnings } = recallQuery(input);
    const { hits, truncated, queryCut } = await context.call('recall', {
      ...query,
      operators: true,
      wordsOnly: true,
      record: { asked: false },
    });
    const allWarnings = [
      ...warnings,
      ...(queryCut === true ? [QUERY_CUT] : []),
      ...(truncated === true ? [truncatedWarning(hits.length)] : []),
    ];
    return {
      count: hits.length,
      results: hits.map((hit) => hitOutput(hit)),
      truncated,
      warnings: allWarnings.length === 0 ? undefined : allWarnings,
    };
  },
});
