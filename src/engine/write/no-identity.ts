import { EngineError } from '../base/errors.ts';

export function noIdentity(agentId: string): EngineError {
  return new EngineError('AGT-E001', 'there is no identity with this agent_id', {
    details: [{ field: 'agent_id', issue: `not found: ${agentId.slice(0, 64)}` }],
  });
}
