// Agents: their identities.

import type { AgentIdentity, AgentStatus, StatedIdentity } from '../govern/agents/identity.ts';
import type { RowsOf } from './row.ts';

export interface AgentCalls {
  /**
   * Registers an agent. `check`: only decides. `decided`: stores what partition 0 decided. Throws AGT-E002, VAL-E001,
   * LIM-E002.
   */
  registerAgent: {
    input: { identity: StatedIdentity; check?: true | undefined; decided?: true | undefined };
    output: { identity: AgentIdentity };
  };
  /** Ends an agent's right to write, for ever. Idempotent: the first time and reason stay. Throws AGT-E001. */
  deactivateAgent: {
    input: { agentId: string; reason?: string | undefined };
    output: { identity: AgentIdentity };
  };
  /** One identity. Throws AGT-E001. */
  identity: { input: { agentId: string }; output: { identity: AgentIdentity } };
  /** Identities in the order of registration. `after`: a place. */
  identities: {
    input: {
      status?: AgentStatus | undefined;
      order: 'asc' | 'desc';
      after?: number | undefined;
      offset: number;
      limit: number;
    };
    /** `next` is the place of the last identity; absent on the last page. */
    output: { identities: readonly AgentIdentity[]; total: number; next?: number };
  };
  /** Refuses a caller that acts as a deactivated agent (AGT-E003). For operations that change what no shard holds. */
  requireActive: { input: Record<never, never>; output: Record<never, never> };
}

export const AGENT_ROWS = {
  registerAgent: {
    kind: 'write',
    by: 'plan',
    changes: 'rules',
    retry: 'keyed',
    gather: 'own',
    governed: { nothing: 'rules' },
    access: { memory: ['editor'] },
  },
  deactivateAgent: {
    kind: 'write',
    by: 'plan',
    changes: 'rules',
    retry: 'keyed',
    gather: 'own',
    governed: { nothing: 'rules' },
    access: { memory: ['editor'] },
  },
  identity: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'first',
    governed: { nothing: 'rules' },
    access: { memory: ['viewer'] },
  },
  identities: {
    kind: 'long',
    changes: 'nothing',
    gather: 'first',
    governed: { nothing: 'rules' },
    access: { memory: ['viewer'] },
  },
  requireActive: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'first',
    governed: { nothing: 'answers nothing' },
    access: { open: 'answers nothing' },
  },
} as const satisfies RowsOf<AgentCalls>;
