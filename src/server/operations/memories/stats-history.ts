import { EngineError } from '../../../engine/base/errors.ts';
import { defineOperation } from '../define.ts';
import { secondsToMs } from '../recall/query.ts';
import { Type } from '../type.ts';
import { allTypes } from './stats.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const Point = Type.Object({
  timestamp: Type.Integer(),
  totalGrains: Type.Integer(),
  diskSpaceBytes: Type.Integer(),
  typeCounts: Type.Unsafe<Record<string, number>>({ type: 'object' }),
});

export const statsHistory = defineOperation({
  name: 'stats_history',
  summary: 'What a memory held over time; without a range the last day by hours, or the last 30 days.',
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  input: Type.Object({
    from: Type.Optional(Type.Integer()),
    to: Type.Optional(Type.Integer()),
    interval: Type.Optional(Type.Enum(['hour', 'day'])),
  }),
  output: Type.Object({ points: Type.Array(Point), interval: Type.String() }),
  errors: ['VAL-E001'],
  http: [{ verb: 'GET', path: 'M/stats/history' }],
  async run(input, context) {
    const interval = input.interval ?? 'hour';
    const toMs = secondsToMs(input.to, 'to', 999) ?? context.services.clock.nowMs();
    const fromMs = secondsToMs(input.from, 'from', 0) ?? toMs - (interval === 'hour' ? DAY_MS : 30 * DAY_MS);
    if (fromMs > toMs)
      throw new EngineError('VAL-E001', 'from is after to', { details: [{ field: 'from', issue: 'after to' }] });
    const { points } = await context.call('statisticsHistory', { fromMs, toMs, interval });
    return { points: points.map((point) => ({ ...point, typeCounts: allTypes(point.typeCounts) })), interval };
  },
});
