import { PAGE_LIMIT_MAX } from '../../../engine/base/limits.ts';
import type { GrainPlace } from '../../../engine/calls/grain.ts';
import { defineOperation } from '../define.ts';
import { ORDERED_PAGE_INPUT, PAGE_OUTPUT, readPage, writeCursor } from '../page.ts';
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
    ...ORDERED_PAGE_INPUT,
  }),
  output: Type.Object({ edges: Type.Array(Edge, { description: 'The edges of the page.' }), ...PAGE_OUTPUT }),
  errors: ['VAL-E004'],
  http: [{ verb: 'GET', path: 'M/graph/edges' }],
  async run({ relation, ...paging }, context) {
    const { limit, offset, order, after } = readPage(paging, SCOPE, context.warnings);
    const page = (size: number, end: GrainPlace | undefined) =>
      context.call('edges', { direction: 'out', relation, limit: size, after: end });
    let end: GrainPlace | undefined = after && { createdAtMs: after.timeMs, hash: after.id };
    for (let left = offset; left > 0; ) {
      const skipped = await page(Math.min(left, PAGE_LIMIT_MAX), end);
      end = skipped.next;
      if (end === undefined) return { edges: [], total: null, nextCursor: null };
      left -= skipped.edges.length;
    }
    const { edges, next } = await page(limit, end);
    return {
      edges: edges.map(edgeOutput),
      total: null,
      nextCursor: next === undefined ? null : writeCursor({ timeMs: next.createdAtMs, id: next.hash }, SCOPE, order),
    };
  },
});
