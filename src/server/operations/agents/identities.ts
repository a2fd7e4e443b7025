// Lists the identities of a memory's agents, and shows one.

import { AGENT_STATUSES } from '../../../engine/govern/agents/identity.ts';
import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage, writeCursor } from '../page.ts';
import { Type } from '../type.ts';
import { Identity, shownIdentity } from './identity.ts';

const SCOPE = 'identities';

export const identities = defineOperation({
  name: 'agent_identities',
  summary: 'List the identities of agents, the newest first.',
  description:
    'It lists registered agents. The list of agents has their trust, and those that act without an identity.',
  example: { status: 'active', limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: false,
  paged: true,
  input: Type.Object({
    status: Type.Optional(Type.Enum(AGENT_STATUSES, { description: 'Only this status; the default is all.' })),
    ...PAGE_INPUT,
  }),
  output: Type.Object({
    identities: Type.Array(Identity, { description: 'The identities of this page.' }),
    ...PAGE_OUTPUT,
  }),
  errors: ['VAL-E004'],
  http: [{ verb: 'GET', path: 'M/agents/identities' }],
  async run({ status, ...page }, context) {
    const { limit, offset, order, after } = readPage(page, SCOPE, context.warnings);
    const listed = await context.call('identities', { status, order, offset, limit, after: after?.timeMs });
    const nextCursor = listed.next === undefined ? null : writeCursor({ timeMs: listed.next, id: '' }, SCOPE, order);
    return { identities: listed.identities.map(shownIdentity), total: listed.total, nextCursor };
  },
});

export const identity = defineOperation({
  name: 'agent_identity',
  summary: 'Show the identity of an agent.',
  description: 'It shows a deactivated agent too, with the time and the reason.',
  example: { agent_id: 'planner' },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: false,
  input: Type.Object({ agentId: Type.String({ minLength: 1, description: 'Id of the agent.' }) }),
  output: Identity,
  errors: ['AGT-E001'],
  http: [{ verb: 'GET', path: 'M/agents/identities/{agent_id}' }],
  run: async ({ agentId }, context) => shownIdentity((await context.call('identity', { agentId })).identity),
});
