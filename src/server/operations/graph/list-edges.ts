import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage, writeCursor } from '../page.ts';
import { Type } from '../type.ts';
import { Edge, edgeOutput } from './edge.ts';

const SCOPE = 'edges';

export const edgesList = defineOperation({
  name: 'list_edges',
  summary: 'List the edges of the graph of a memory, newest first.',
  description:
    'Each current grain with a subject and an object is an edge. A page can have fewer edges than its limit before the last one.',
  example: { relation: 'works_at', limit: 500 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  paged: true,
  input: Type.Object({
    relation: Type.Optional(
      Type.String({ minLength: 1, description: 'Only edges of this relation; the default is all.' }),
    ),
    limit: PAGE_INPUT.limit,
    cursor: PAGE_INPUT.cursor,
  }),
  output: Type.Object({ edges: Type.Array(Edge, { description: 'The edges of the page.' }), ...PAGE_OUTPUT }),
  errors: ['VAL-E004'],
  http: [{ verb: 'GET', path: 'M/graph/edges' }],
  async run({ relation, ...paging }, context) {
    const { limit, order, after } = readPage(paging, SCOPE, context.warnings);
    const { edges, next } = await context.call('edges', {
      direction: 'out',
      relation,
      limit,
      after: after === undefined ? undefined : { createdAtMs: after.timeMs, hash: after.id },
    });
    return {
      edges: edges.map(edgeOutput),
      total: null,
      nextCursor: next === undefined ? null : writeCursor({ timeMs: next.createdAtMs, id: next.hash }, SCOPE, order),
    };
  },
});
