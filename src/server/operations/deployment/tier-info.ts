import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';

const Time = Type.Union([Type.Integer(), Type.Null()]);
const Tier = Type.Object({
  name: Type.Enum(['hot', 'warm', 'cold']),
  enabled: Type.Boolean(),
  backend: Type.Union([Type.String(), Type.Null()]),
  grains: Type.Integer(),
  bytes: Type.Integer(),
  oldestAt: Time,
  newestAt: Time,
});

export const tierInfo = defineOperation({
  name: 'tier_info',
  summary: 'Where the grains of a memory lie: on one box, all of them hot.',
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Type.Object({}),
  output: Type.Object({
    tiers: Type.Array(Tier),
    policy: Type.Object({
      hotDays: Type.Union([Type.Integer(), Type.Null()]),
      warmDays: Type.Union([Type.Integer(), Type.Null()]),
    }),
    baaAcknowledged: Type.Boolean(),
    dpaAcknowledged: Type.Boolean(),
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
