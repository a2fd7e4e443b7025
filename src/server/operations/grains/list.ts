import type { GrainFilter } from '../../../shards/protocol.ts';
import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage, writeCursor } from '../page.ts';
import { secondsToMs } from '../recall/query.ts';
import { type Static, Type } from '../type.ts';
import { checkedGrainType } from './grain-type.ts';
import { GrainOutput, grainOutput } from './view.ts';

const Input = Type.Object({
  ...PAGE_INPUT,
  grainType: Type.Optional(
    Type.Array(Type.String(), { description: 'Only grains of these types; the default is all.' }),
  ),
  namespace: Type.Optional(Type.String({ description: 'Only grains of this namespace; the default is all.' })),
  userId: Type.Optional(Type.String({ description: 'Only grains of this data subject.' })),
  subject: Type.Optional(Type.String({ description: 'Only grains with exactly this subject.' })),
  relation: Type.Optional(Type.String({ description: 'Only grains with exactly this relation.' })),
  tag: Type.Optional(Type.Array(Type.String(), { description: 'Only grains that have all of these tags.' })),
  sessionId: Type.Optional(Type.String({ description: 'Only grains of this session.' })),
  createdAfter: Type.Optional(
    Type.Integer({ description: 'Only grains created at this time or later, in Unix seconds.' }),
  ),
  createdBefore: Type.Optional(
    Type.Integer({ description: 'Only grains created at this time or earlier, in Unix seconds.' }),
  ),
  includeSuperseded: Type.Optional(
    Type.Boolean({ description: 'Whether old versions are listed; the default is false.', default: false }),
  ),
  hashPrefix: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{8,64}$',
      description: 'Only grains whose hash begins with these 8 to 64 hexadecimal digits.',
    }),
  ),
});

const SCOPE = 'grains';

export const list = defineOperation({
  name: 'list_grains',
  summary: 'List the grains of a memory, newest first.',
  description: 'Conditions narrow the list; without any, it contains every current grain.',
  example: { grain_type: ['belief'], namespace: 'home', limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  onAnyNode: true,
  mutates: false,
  paged: true,
  input: Input,
  output: Type.Object({ grains: Type.Array(GrainOutput, { description: 'The grains of the page.' }), ...PAGE_OUTPUT }),
  errors: ['VAL-E004', 'MEM-E005'],
  http: [{ verb: 'GET', path: 'M/grains' }],
  async run(input, context) {
    const page = readPage(input, SCOPE, context.warnings);
    const { grains, total, more, next } = await context.call('list', {
      filter: filterOf(input),
      limit: page.limit,
      order: page.order,
      after: page.after === undefined ? undefined : { createdAtMs: page.after.timeMs, hash: page.after.id },
      offset: page.offset === 0 ? undefined : page.offset,
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
    grainTypes: input.grainType?.map(checkedGrainType),
    namespace: input.namespace,
    userId: input.userId,
    subject: input.subject,
    relation: input.relation,
    tags: input.tag,
    sessionId: input.sessionId,
    createdFromMs: fromMs,
    createdToMs: toMs,
    includeSuperseded: input.includeSuperseded === true || undefined,
    addressPrefix: input.hashPrefix?.toLowerCase(),
  };
}
