// The identity of an agent in answers.

import { defined } from '../../../engine/base/defined.ts';
import { AGENT_STATUSES, type AgentIdentity } from '../../../engine/govern/agents/identity.ts';
import { seconds } from '../seconds.ts';
import { type Static, Type } from '../type.ts';

export const Identity = Type.Object({
  agentId: Type.String({ description: 'Id of the agent.' }),
  name: Type.Optional(Type.String({ description: 'Name for people to read; absent where none was given.' })),
  did: Type.Optional(
    Type.String({
      description: 'Decentralized identifier, as grains name it in author_did; absent where none was given.',
    }),
  ),
  publicKey: Type.Optional(
    Type.String({ description: 'Public key of the agent, as it was given; absent where none was given.' }),
  ),
  capabilities: Type.Array(Type.String(), {
    description: 'The abilities of the agent, in the words of who registered it.',
  }),
  status: Type.Enum(AGENT_STATUSES, {
    description: 'Whether the agent may write (active) or never again (deactivated).',
  }),
  createdAt: Type.Integer({ description: 'Time of the registration in Unix seconds.' }),
  deactivatedAt: Type.Optional(
    Type.Integer({ description: 'Time of the deactivation in Unix seconds; absent for an active agent.' }),
  ),
  deactivationReason: Type.Optional(
    Type.String({ description: 'Why the agent was deactivated; absent where no reason was given.' }),
  ),
  metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Members that the server stores as they are.' }),
});

export function shownIdentity(identity: AgentIdentity): Static<typeof Identity> {
  const { createdAtMs, deactivatedAtMs, capabilities, metadata, ...members } = identity;
  return {
    ...members,
    ...defined({ deactivatedAt: deactivatedAtMs === undefined ? undefined : seconds(deactivatedAtMs) }),
    capabilities: [...capabilities],
    createdAt: seconds(createdAtMs),
    metadata: { ...metadata },
  };
}
