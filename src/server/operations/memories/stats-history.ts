import { EngineError } from '../../../engine/base/errors.ts';
import { defineOperation } from '../define.ts';
import { secondsToMs } from '../recall/query.ts';
import { Type } from '../type.ts';
import { allTypes } from './stats.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const Point = Type.Object({
  timestamp: Type.Integer({ description: 'Time of the point in Unix seconds.' }),
  totalGrains: Type.Integer({ description: 'Number of grains, current and superseded.' }),
  diskSpaceBytes: Type.Integer({ description: 'Size of the memory on disk in bytes.' }),
  typeCounts: Type.Unsafe<Record<string, number>>({ type: 'object', description: 'Number of grains by grain type.' }),
});

export const statsHistory = defineOperation({
  name: 'stats_history',
  summary: 'Show what a memory held over time.',
  description:
    'Without a range it shows the last day by hours, or the last 30 days. Hourly points are kept 90 days, daily ones two years.',
  example: { interval: 'day' },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  input: Type.Object({
    from: Type.Optional(
      Type.Integer({
        description:
          'Time of the first point in Unix seconds; the default is a day before to, or 30 days for interval day.',
      }),
    ),
    to: Type.Optional(Type.Integer({ description: 'Time of the last point in Unix seconds; the default is now.' })),
    interval: Type.Optional(
      Type.Enum(['hour', 'day'], { description: 'Distance of the points; the default is hour.', default: 'hour' }),
    ),
  }),
  output: Type.Object({
    points: Type.Array(Point, { description: 'The points, the oldest first.' }),
    interval: Type.String({ description: 'Distance of the points: hour or day.' }),
  }),
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
