import { defineOperation } from '../define.ts';
import { described, Type } from '../type.ts';

const Time = Type.Union([Type.Integer(), Type.Null()]);
const Tier = Type.Object({
  name: Type.Enum(['hot', 'warm', 'cold'], { description: 'Name of the tier.' }),
  enabled: Type.Boolean({ description: 'Whether the tier is in use.' }),
  backend: Type.Union([Type.String(), Type.Null()], {
    description: 'Storage backend of the tier; null where the tier is off.',
  }),
  grains: Type.Integer({ description: 'Number of grains in the tier.' }),
  bytes: Type.Integer({ description: 'Size of the tier on disk in bytes.' }),
  oldestAt: described(Time, 'Creation time of the oldest grain in Unix seconds; null where the tier is empty.'),
  newestAt: described(Time, 'Creation time of the newest grain in Unix seconds; null where the tier is empty.'),
});

export const tierInfo = defineOperation({
  name: 'tier_info',
  summary: 'Show which storage tiers hold the grains of a memory.',
  description: 'This build keeps every grain in the hot tier.',
  example: {},
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Type.Object({}),
  output: Type.Object({
    tiers: Type.Array(Tier, { description: 'The tiers: hot, warm and cold.' }),
    policy: Type.Object(
      {
        hotDays: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Days that a grain stays hot; null where grains never move.',
        }),
        warmDays: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Days that a grain stays warm; null where grains never move.',
        }),
      },
      { description: 'When grains move between tiers.' },
    ),
    baaAcknowledged: Type.Boolean({
      description: 'Whether a business associate agreement is acknowledged for tiering.',
    }),
    dpaAcknowledged: Type.Boolean({ description: 'Whether a data processing agreement is acknowledged for tiering.' }),
  }),
  http: [{ verb: 'GET', path: 'M/tier-info' }],
  async run(_, context) {
    const end = (order: 'asc' | 'desc') =>
      context.call('list', { filter: { includeSuperseded: true }, limit: 1, order });
    const [statistics, oldest, newest] = await Promise.all([context.call('statistics', {}), end('asc'), end('desc')]);
    const off = { enabled: false, backend: null, grains: 0, bytes: 0, oldestAt: null, newestAt: null };
    return {
      tiers: [
        {
          name: 'hot' as const,
          enabled: true,
          backend: 'lmdb',
          grains: statistics.totalGrains,
          bytes: statistics.diskSpaceBytes,
          oldestAt: oldest.grains[0]?.createdAt ?? null,
          newestAt: newest.grains[0]?.createdAt ?? null,
        },
        { name: 'warm' as const, ...off },
        { name: 'cold' as const, ...off },
      ],
      policy: { hotDays: null, warmDays: null },
      baaAcknowledged: false,
      dpaAcknowledged: false,
    };
  },
});
