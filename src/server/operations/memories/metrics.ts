import { stringifyJson } from '../../../engine/grain/api/json.ts';
import { GetMetricsRequest, GetMetricsResponse } from '../../gen/memory/v1/memory.ts';
import type { Domain, Metric, Status } from '../../metering/rows.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { nodeOf, outward } from '../names.ts';
import { type Static, Type } from '../type.ts';
import { computed } from './measure.ts';

const Row = Type.Object({
  id: Type.String({ description: 'Id of the metric.' }),
  domain: Type.Enum(['ops', 'intel'], { description: 'Domain of the metric.' }),
  label: Type.String({ description: 'Name of the metric for people.' }),
  value: Type.Union([Type.Number(), Type.Null()], {
    description: 'Value in `unit`, rounded to three decimal places; null if it is not computed.',
  }),
  unit: Type.String({ description: 'Unit of the value and of the thresholds.' }),
  status: Type.Enum(['green', 'yellow', 'red', 'not_computed'], { description: 'How the value compares.' }),
  green: Type.Number({ description: 'Threshold of green, inclusive.' }),
  yellow: Type.Number({ description: 'Threshold of yellow, inclusive; beyond it the metric is red.' }),
  direction: Type.Enum(['lower', 'higher'], { description: 'Which values are better.' }),
  windowS: Type.Integer({ description: 'Length of the window in seconds; 0 for a state of now.' }),
  samples: Type.Integer({ description: 'Number of observations behind the value.' }),
  reason: Type.Optional(Type.String({ description: 'Why the metric is not computed; absent if it is.' })),
});

const Output = Type.Object({
  computedAt: Type.Integer({ description: 'Time at which the oldest value was computed, in Unix seconds.' }),
  domain: Type.Enum(['ops', 'intel', 'all'], { description: 'Domain that was asked for.' }),
  metrics: Type.Array(Row, { description: 'The metrics, in a fixed order.' }),
  total: Type.Integer({ description: 'Number of metrics.' }),
  green: Type.Integer({ description: 'Number of green metrics.' }),
  yellow: Type.Integer({ description: 'Number of yellow metrics.' }),
  red: Type.Integer({ description: 'Number of red metrics.' }),
  notComputed: Type.Integer({ description: 'Number of metrics that are not computed.' }),
});

export const memoryMetrics = defineOperation({
  name: 'memory_metrics',
  summary: 'Show how well a memory and its server do, as metrics with thresholds.',
  description: 'Values are computed on call and answered again for 30 seconds. docs/metrics.md defines each metric.',
  example: { domain: 'intel' },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  slow: true,
  input: Type.Object({
    domain: Type.Optional(
      Type.Enum(['', 'ops', 'intel', 'all'], {
        description: 'Only this domain: ops, intel or all; the default is all.',
      }),
    ),
  }),
  output: Output,
  grpc: rpc({
    rpc: 'GetMetrics',
    request: GetMetricsRequest,
    response: GetMetricsResponse,
    write: ({ metrics, ...rest }: Static<typeof Output>) => ({
      ...rest,
      metricsJson: stringifyJson(metrics.map((metric) => outward(nodeOf(Row), metric))),
    }),
  }),
  exec: { command: 'metrics' },
  async run({ domain: asked = '' }, context) {
    const domain = asked === '' ? 'all' : asked;
    const domains: readonly Domain[] = domain === 'all' ? ['ops', 'intel'] : [domain];
    const sets = await Promise.all(domains.map((one) => computed(one, context)));
    const metrics: readonly Metric[] = sets.flatMap((one) => one.metrics);
    const count = (status: Status): number => metrics.filter((metric) => metric.status === status).length;
    return {
      computedAt: Math.floor(Math.min(...sets.map(({ computedAtMs }) => computedAtMs)) / 1000),
      domain,
      metrics: [...metrics],
      total: metrics.length,
      green: count('green'),
      yellow: count('yellow'),
      red: count('red'),
      notComputed: count('not_computed'),
    };
  },
});
