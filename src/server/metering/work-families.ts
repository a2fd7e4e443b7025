// The families of /metrics about the deployment and the work beside requests.
import type { DeliveryCounts } from '../hooks/deliveries.ts';
import { counter, type Family, gauge } from './family.ts';

/** Each is called at a scrape. */
export interface WorkSources {
  readonly memories: () => number;
  readonly keys: () => number;
  readonly extractions: () => number;
  readonly embedded: () => number;
  readonly notEmbedded: () => number;
  readonly eventStreams: () => number;
  readonly webhooks: () => number;
  readonly deliveries: () => DeliveryCounts;
  readonly sweeps: () => { readonly sweeps: number; readonly grains: number };
}

export function workFamilies(sources: WorkSources): Family[] {
  return [
    gauge('granary_memories', 'Memories that exist.', sources.memories),
    gauge('granary_api_keys', 'API keys, revoked ones included.', sources.keys),
    gauge('granary_extractions_waiting', 'Texts that await extraction.', sources.extractions),
    gauge('granary_embedded_grains', 'Grains embedded since the start.', sources.embedded),
    gauge('granary_not_embedded_grains', 'Grains since the start that could not be embedded.', sources.notEmbedded),
    gauge('granary_event_streams', 'Streams of events that are open.', sources.eventStreams),
    gauge('granary_webhooks', 'Webhooks whose deliveries run.', sources.webhooks),
    {
      name: 'granary_webhook_deliveries_total',
      help: 'Deliveries to webhooks by outcome: delivered, failed tries, dead for given up.',
      type: 'counter',
      values: () => {
        const { delivered, failed, dead } = sources.deliveries();
        return Object.entries({ delivered, failed, dead }).map(([outcome, value]) => ({ labels: { outcome }, value }));
      },
    },
    counter(
      'granary_webhook_pauses_total',
      'Pauses of a webhook after too many failures.',
      () => sources.deliveries().paused,
    ),
    counter('granary_retention_sweeps_total', 'Completed sweeps for expired grains.', () => sources.sweeps().sweeps),
    counter('granary_expired_grains_total', 'Expired grains that sweeps removed.', () => sources.sweeps().grains),
  ];
}
