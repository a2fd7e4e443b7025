// Registers an agent, and deactivates one.

import type { JsonObject } from '../../../shards/protocol.ts';
import { randomId } from '../../control/ids.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';
import { Identity, shownIdentity } from './identity.ts';

export const registerAgent = defineOperation({
  name: 'register_agent',
  summary: 'Register an agent of the memory.',
  description:
    'The agent acts where a key has the principal agent:ID, where a token names it in agent_id, and as author of grains with its did.',
  example: { agent_id: 'planner', name: 'Planner', did: 'did:web:example.com:planner', capabilities: ['plan'] },
  needs: 'write',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: true,
  onUnknown: 'warn',
  input: Type.Object({
    agentId: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Id of the agent, of at most 256 characters; by default the server makes one.',
      }),
    ),
    name: Type.Optional(Type.String({ description: 'Name for people to read, of at most 256 characters.' })),
    did: Type.Optional(
      Type.String({
        description: 'Decentralized identifier, of at most 512 characters; one agent of the memory has it.',
      }),
    ),
    publicKey: Type.Optional(
      Type.String({
        description: 'Public key in any text form, of at most 4,096 characters; the server only stores it.',
      }),
    ),
    capabilities: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The abilities of the agent: at most 64 texts of at most 128 characters; the default is none.',
      }),
    ),
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Members to be stored as they are, of at most 16 KiB as JSON; the default is none.',
      }),
    ),
  }),
  output: Identity,
  errors: ['AGT-E002', 'VAL-E001', 'LIM-E002'],
  http: [{ verb: 'POST', path: 'M/agents/identities', successStatus: 201 }],
  async run({ agentId = randomId('agt'), capabilities = [], metadata = {}, ...members }, context) {
    const stated = { ...members, agentId, capabilities, metadata: metadata as JsonObject }; // parsed from JSON
    return shownIdentity((await context.call('registerAgent', { identity: stated })).identity);
  },
});

export const deactivateAgent = defineOperation({
  name: 'deactivate_agent',
  summary: 'Deactivate an agent permanently: its writes are refused from then on.',
  description:
    'Its grains and its identity stay, and it may read until its key is revoked. Deactivating it again changes nothing.',
  example: { agent_id: 'planner', reason: 'It was replaced.' },
  needs: 'write',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    agentId: Type.String({ minLength: 1, description: 'Id of the agent.' }),
    reason: Type.Optional(
      Type.String({ description: 'Why it is deactivated, of at most 1,024 characters; x-reason says the same.' }),
    ),
  }),
  output: Identity,
  errors: ['AGT-E001', 'VAL-E001'],
  http: [{ verb: 'POST', path: 'M/agents/identities/{agent_id}/deactivate' }],
  run: async ({ agentId, reason = '' }, context) =>
    shownIdentity(
      (await context.call('deactivateAgent', { agentId, reason: reason === '' ? context.reason : reason })).identity,
    ),
});
