import type { Metrics } from '../../metrics.ts';
import { defineOperation, type Operation } from '../define.ts';
import { TEXT } from '../json-schema.ts';
import { Type } from '../type.ts';

/** The row of GET /metrics, outside /api: this process's counters in Prometheus format. */
export function metricsOperation(metrics: Metrics): Operation {
  return defineOperation({
    name: 'metrics',
    summary: 'Show the counters of this process in the text format of Prometheus.',
    description: 'It is not under /api, and needs a key of scope metrics.',
    example: {},
    needs: 'metrics',
    on: 'deployment',
    reach: 'deployment',
    onAnyNode: true,
    ofNode: true,
    mutates: false,
    input: Type.Object({}),
    output: Type.Object({
      contentType: Type.String({ description: 'Content type of the metrics.' }),
      text: Type.String({ description: 'Metrics in the text format of Prometheus.' }),
    }),
    http: [
      {
        verb: 'GET',
        path: '/metrics',
        answers: { 'text/plain': TEXT },
        reply: ({ contentType, text }) => ({
          kind: 'bytes',
          status: 200,
          headers: { 'content-type': contentType },
          body: Buffer.from(text, 'utf8'),
        }),
      },
    ],
    run: () => metrics.text(),
  });
}
