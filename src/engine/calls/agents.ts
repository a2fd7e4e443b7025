// Agents: their identities.

import type { AgentIdentity, AgentStatus, StatedIdentity } from '../govern/agents/identity.ts';
import type { TrustChange, TrustCounts } from '../govern/agents/trust.ts';
import type { RowsOf } from './row.ts';

export interface AgentColumns {
  readonly ids: readonly string[];
  readonly statuses: readonly ShownStatus[];
  /** Times of registration in ms; 0 for an agent without an identity. */
  readonly createdMs: readonly number[];
  readonly seen: readonly number[];
}

/** `unregistered`: an agent that acts without an identity. */
export type ShownStatus = AgentStatus | 'unregistered';

export interface AgentSeen extends TrustCounts {
  readonly grains: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

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
  /**
   * Every agent of the memory with what it did in this partition, in columns: an array has one value for each agent.
   * `seen` has six numbers for each: grains, succeeded and failed actions, refusals by the policy, and the first and last time in
   * ms; zeros for an agent that has done nothing.
   */
  agents: { input: Record<never, never>; output: AgentColumns };
  /** One agent, with its newest changes of trust. Throws AGT-E001 for one that has no identity and did nothing. */
  agent: {
    input: { agentId: string; limit: number };
    output: {
      agentId: string;
      identity?: AgentIdentity | undefined;
      seen: AgentSeen | null;
      /** The counts before the first of `changes`. */
      before: TrustCounts;
      /** The oldest first. */
      changes: readonly TrustChange[];
    };
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
  agents: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { nothing: 'counts' },
    access: { memory: ['viewer'] },
  },
  agent: {
    kind: 'long',
    changes: 'nothing',
    gather: 'own',
    governed: { nothing: 'counts; it leaves out the hash of an action that may not be read' },
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
