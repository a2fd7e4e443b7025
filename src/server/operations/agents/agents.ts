// Lists the agents of a memory with their trust, and shows one with its history.

import { defined } from '../../../engine/base/defined.ts';
import { TRUST_POINTS_MAX } from '../../../engine/base/limits.ts';
import { AGENT_STATUSES } from '../../../engine/govern/agents/identity.ts';
import { NO_COUNTS, TRUST_REASONS, trustPoints, trustScore } from '../../../engine/govern/agents/trust.ts';
import type { Output } from '../../../shards/protocol.ts';
import { defineOperation } from '../define.ts';
import { comparePlaces, PAGE_INPUT, PAGE_OUTPUT, type Place, pageOf, readPage } from '../page.ts';
import { seconds } from '../seconds.ts';
import { refuseHosted } from '../settings/view.ts';
import { described, Type } from '../type.ts';
import { Identity, shownIdentity } from './identity.ts';

const SCOPE = 'agents';
const HISTORY_DEFAULT = 100;
const STATUSES = [...AGENT_STATUSES, 'unregistered'] as const;
const Status = Type.Enum(STATUSES, {
  description: 'Status of the identity, or unregistered for an agent that acts without one.',
});
const Agent = {
  agentId: Type.String({ description: 'Id of the agent.' }),
  status: Status,
  trustScore: Type.Number({ description: 'Trust in the agent between 0 and 1; 0.5 where nothing is known.' }),
  grainsWritten: Type.Integer({ description: 'Number of grains that the agent wrote, new versions included.' }),
  lastSeenAt: Type.Optional(
    Type.Integer({
      description: 'Time of its last counted act in Unix seconds; absent for an agent that did nothing yet.',
    }),
  ),
};

/** A row of the list. */
interface Row {
  readonly id: string;
  readonly status: (typeof STATUSES)[number];
  /** Time of the registration or of the first act in ms. */
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly grains: number;
  readonly score: number;
}

/** Numbers of `seen` for each agent (calls/agents.ts). */
const SEEN = 6;

function rowsOf({ ids, statuses, createdMs, seen }: Output<'agents'>): Row[] {
  return ids.map((id, i) => {
    const [grains = 0, succeeded = 0, failed = 0, refused = 0, firstMs = 0, lastMs = 0] = seen.slice(
      i * SEEN,
      (i + 1) * SEEN,
    );
    const score = trustScore({ succeeded, failed, refused });
    return { id, status: statuses[i]!, sinceMs: createdMs[i] || firstMs, lastMs, grains, score };
  });
}

const placeOf = ({ sinceMs, id }: Row): Place => ({ timeMs: sinceMs, id });

export const agents = defineOperation({
  name: 'agents',
  summary: 'List the agents of a memory with their trust, the newest first.',
  description:
    'It lists agents with an identity, and agents that acted without one. The time of an agent is that of its registration or first act.',
  example: { limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: false,
  paged: true,
  input: Type.Object({
    status: Type.Optional(Type.Enum(STATUSES, { description: 'Only this status; the default is all.' })),
    ...PAGE_INPUT,
  }),
  output: Type.Object({
    agents: Type.Array(Type.Object(Agent), { description: 'The agents of this page.' }),
    ...PAGE_OUTPUT,
  }),
  errors: ['AUT-E006', 'VAL-E004'],
  http: [{ verb: 'GET', path: 'M/agents' }],
  async run({ status, ...asked }, context) {
    refuseHosted(context.services, 'a hosted deployment lists no agents');
    const page = readPage(asked, SCOPE, context.warnings);
    const rows = rowsOf(await context.call('agents', {}))
      .filter((row) => status === undefined || row.status === status)
      .sort((one, other) => comparePlaces(placeOf(one), placeOf(other)));
    const { items, total, nextCursor } = pageOf(rows, page, placeOf, SCOPE, (row) => row);
    return {
      agents: items.map(({ id, status: shown, score, grains, lastMs }) => ({
        agentId: id,
        status: shown,
        trustScore: score,
        grainsWritten: grains,
        ...defined({ lastSeenAt: lastMs === 0 ? undefined : seconds(lastMs) }),
      })),
      total,
      nextCursor,
    };
  },
});

const TrustPoint = Type.Object({
  timestamp: Type.Integer({ description: 'Time of the change in Unix seconds.' }),
  score: Type.Number({ description: 'Trust after the change.' }),
  delta: Type.Number({ description: 'The change of the trust.' }),
  reason: Type.Enum(Object.keys(TRUST_REASONS) as (keyof typeof TRUST_REASONS)[], {
    description: 'The act that changed the trust.',
  }),
  actionHash: Type.Optional(
    Type.String({ description: 'Hash of the action; absent for a refusal, and for an action that may not be shown.' }),
  ),
});

export const agent = defineOperation({
  name: 'agent',
  summary: 'Show an agent with its identity, its trust and the history of its trust.',
  description:
    'Trust is (1 + successful actions) / (2 + successful actions + failed actions + 2 for each refusal by the policy).',
  example: { agent_id: 'planner', limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: false,
  input: Type.Object({
    agentId: Type.String({ minLength: 1, description: 'Id of the agent.' }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: TRUST_POINTS_MAX,
        description: 'Number of points of the history; the default is 100.',
        default: HISTORY_DEFAULT,
      }),
    ),
  }),
  output: Type.Object({
    ...Agent,
    firstSeenAt: Type.Optional(
      Type.Integer({ description: 'Time of its first counted act in Unix seconds; absent if it did nothing yet.' }),
    ),
    successfulActions: Type.Integer({ description: 'Number of its actions that succeeded.' }),
    failedActions: Type.Integer({ description: 'Number of its actions that failed.' }),
    policyRefusals: Type.Integer({ description: 'Number of its requests that the policy refused.' }),
    identity: described(Type.Optional(Identity), 'Its identity; absent for an agent that acts without one.'),
    trustHistory: Type.Array(TrustPoint, {
      description: 'Changes of its trust, the newest first; the last 1,000 are kept.',
    }),
  }),
  errors: ['AUT-E006', 'AGT-E001'],
  http: [{ verb: 'GET', path: 'M/agents/{agent_id}' }],
  async run({ agentId, limit = HISTORY_DEFAULT }, context) {
    refuseHosted(context.services, 'a hosted deployment lists no agents');
    const { identity, seen, before, changes, ...found } = await context.call('agent', { agentId, limit });
    const { succeeded, failed, refused } = seen ?? NO_COUNTS;
    return defined({
      agentId: found.agentId,
      status: identity?.status ?? ('unregistered' as const),
      trustScore: trustScore({ succeeded, failed, refused }),
      grainsWritten: seen?.grains ?? 0,
      firstSeenAt: seen === null ? undefined : seconds(seen.firstMs),
      lastSeenAt: seen === null ? undefined : seconds(seen.lastMs),
      successfulActions: succeeded,
      failedActions: failed,
      policyRefusals: refused,
      identity: identity === undefined ? undefined : shownIdentity(identity),
      trustHistory: trustPoints(before, changes)
        .map(({ atMs, ...point }) => ({ ...point, timestamp: seconds(atMs) }))
        .reverse(),
    });
  },
});
