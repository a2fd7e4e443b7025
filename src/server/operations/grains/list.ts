import type { GrainFilter } from '../../../shards/protocol.ts';
import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage, writeCursor } from '../page.ts';
import { secondsToMs } from '../recall/query.ts';
import { type Static, Type } from '../type.ts';
import { checkedGrainType } from './grain-type.ts';
import { GrainOutput, grainOutput } from './view.ts';

const Input = Type.Object({
  ...PAGE_INPUT,
  grainType: Type.Optional(Type.Array(Type.String())),
  namespace: Type.Optional(Type.String()),
  userId: Type.Optional(Type.String()),
  subject: Type.Optional(Type.String()),
  relation: Type.Optional(Type.String()),
  tag: Type.Optional(Type.Array(Type.String())),
  sessionId: Type.Optional(Type.String()),
  createdAfter: Type.Optional(Type.Integer()),
  createdBefore: Type.Optional(Type.Integer()),
  includeSuperseded: Type.Optional(Type.Boolean()),
  hashPrefix: Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]{8,64}$' })),
});

const SCOPE = 'grains';

export const list = defineOperation({
  name: 'list_grains',
  summary: 'Pages of grains, newest first.',
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  paged: true,
  input: Input,
  output: Type.Object({ grains: Type.Array(GrainOutput), ...PAGE_OUTPUT }),
  errors: ['VAL-E004', 'MEM-E005'],
  http: [{ verb: 'GET', path: 'M/grains' }],
  async run(input, context) {
    const page = readPage(input, SCOPE, context.told);
    const { grains, total, more, next } = await context.call('list', {
      filter: filterOf(input),
      limit: page.limit,
      order: page.order,
      ...(page.after === undefined ? {} : { after: { createdAtMs: page.after.timeMs, hash: page.after.id } }),
      ...(page.offset === 0 ? {} : { offset: page.offset }),
    });
    return {
      grains: grains.map(grainOutput),
      total,
      nextCursor:
        more && next !== undefined ? writeCursor({ timeMs: next.createdAtMs, id: next.hash }, SCOPE, page.order) : null,
    };
  },
});

function filterOf(input: Static<typeof Input>): GrainFilter {
  const fromMs = secondsToMs(input.createdAfter, 'created_after', 0);
  const toMs = secondsToMs(input.createdBefore, 'created_before', 999);
  return {
    ...(input.grainType === undefined ? {} : { grainTypes: input.grainType.map(checkedGrainType) }),
    ...(input.namespace === undefined ? {} : { namespace: input.namespace }),
    ...(input.userId === undefined ? {} : { userId: input.userId }),
    ...(input.subject === undefined ? {} : { subject: input.subject }),
    ...(input.relation === undefined ? {} : { relation: input.relation }),
    ...(input.tag === undefined ? {} : { tags: input.tag }),
    ...(input.sessionId === undefined ? {} : { sessionId: input.sessionId }),
    ...(fromMs === undefined ? {} : { createdFromMs: fromMs }),
    ...(toMs === undefined ? {} : { createdToMs: toMs }),
    ...(input.includeSuperseded === true ? { includeSuperseded: true } : {}),
    ...(input.hashPrefix === undefined ? {} : { addressPrefix: input.hashPrefix.toLowerCase() }),
  };
}
