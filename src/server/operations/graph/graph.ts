import { EngineError } from '../../../engine/base/errors.ts';
import { GRAPH_DEPTH_MAX, GRAPH_NODES_MAX } from '../../../engine/base/limits.ts';
import { tripleForm } from '../../../engine/grain/api/text.ts';
import { defineOperation } from '../define.ts';
import { described, Type } from '../type.ts';
import { Edge, edgeOutput } from './edge.ts';
import { walkGraph } from './walk.ts';

const DEPTH_DEFAULT = 2;
const LIMIT_DEFAULT = 100;

const Node = Type.Object({
  id: Type.String({ description: 'The subject or object that the node stands for.' }),
  depth: Type.Integer({ description: 'Number of edges from the start.' }),
  degree: Type.Integer({ description: 'Number of edges of this answer at the node.' }),
});

export const graph = defineOperation({
  name: 'graph',
  summary: 'Show the graph of subjects and objects around one of them.',
  description:
    'A breadth-first search over current grains with a subject and an object. Grains that the caller may not see make no edges.',
  example: { start: 'ada', depth: 2, limit: 100 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Type.Object({
    start: Type.String({ minLength: 1, description: 'Subject or object at which the search starts.' }),
    depth: described(
      Type.Optional(Type.Integer({ minimum: 1, maximum: GRAPH_DEPTH_MAX, default: DEPTH_DEFAULT })),
      `Number of edges to follow from the start, at most; the default is ${DEPTH_DEFAULT}.`,
    ),
    limit: described(
      Type.Optional(Type.Integer({ minimum: 1, maximum: GRAPH_NODES_MAX, default: LIMIT_DEFAULT })),
      `Number of nodes in the answer, at most; the default is ${LIMIT_DEFAULT}.`,
    ),
    relation: Type.Optional(
      Type.String({ minLength: 1, description: 'Only edges of this relation; the default is all.' }),
    ),
    direction: Type.Optional(
      Type.Enum(['out', 'in', 'both'], {
        description:
          'Edges to follow: out from subject to object, in from object to subject, or both; the default is out.',
        default: 'out',
      }),
    ),
  }),
  output: Type.Object({
    start: Type.String({ description: 'The start, trimmed and in Unicode NFC, as its node has it.' }),
    nodes: Type.Array(Node, { description: 'Nodes, the start first, then by depth and by the age of their edges.' }),
    edges: Type.Array(Edge, { description: 'Edges between these nodes, newest first at each depth.' }),
    depthReached: Type.Integer({ description: 'Depth of the farthest node.' }),
    truncated: Type.Boolean({ description: 'Whether nodes or edges were left out for lack of room or time.' }),
  }),
  http: [{ verb: 'GET', path: 'M/graph' }],
  async run({ start, depth = DEPTH_DEFAULT, limit = LIMIT_DEFAULT, relation, direction = 'out' }, context) {
    const first = tripleForm(start);
    if (first === '')
      throw new EngineError('VAL-E001', '`start` is blank: name a subject or object', {
        details: [{ field: 'start', issue: 'blank' }],
      });
    const { nodes, edges, truncated } = await walkGraph(
      { start: first, depth, limit, direction, relation },
      (input) => context.call('edges', input),
      () => performance.now(),
    );
    return {
      start: first,
      nodes: nodes.map(({ id, depth: at, degree }) => ({ id, depth: at, degree })),
      edges: edges.map(edgeOutput),
      depthReached: nodes.at(-1)?.depth ?? 0,
      truncated,
    };
  },
});
