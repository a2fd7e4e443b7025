// The families of /metrics about the deployment and the work beside requests.
import type { DiskRoom } from '../disk-watch.ts';
import type { DeliveryCounts } from '../hooks/deliveries.ts';
import type { ExtractionCounts } from '../models/extraction/extractor.ts';
import { VERSION } from '../version.ts';
import { counter, type Family, gauge } from './family.ts';

/** Each is called at a scrape. */
export interface WorkSources {
  readonly memories: () => number;
  readonly keys: () => number;
  readonly extractions: () => number;
  readonly modelExtraction: () => ExtractionCounts;
  readonly embedded: () => number;
  readonly notEmbedded: () => number;
  /** Milliseconds since every text had its vectors. */
  readonly embeddingBehindMs: () => number;
  readonly disk: () => DiskRoom | undefined;
  /** Seconds since the last backup; undefined without one. */
  readonly backupAgeSeconds: () => number | undefined;
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
    byOutcome(
      'granary_extraction_calls_total',
      'Calls to models for facts, by outcome: answered, or failed if they gave nothing or were not allowed.',
      () => {
        const { answered, failed } = sources.modelExtraction();
        return { answered, failed };
      },
    ),
    byOutcome(
      'granary_extraction_facts_total',
      'Facts that models found, by outcome: kept, or dropped if their text does not state them.',
      () => {
        const { kept, dropped } = sources.modelExtraction();
        return { kept, dropped };
      },
    ),
    gauge('granary_embedded_grains', 'Grains embedded since the start.', sources.embedded),
    gauge('granary_not_embedded_grains', 'Grains since the start that could not be embedded.', sources.notEmbedded),
    gauge(
      'granary_embedding_behind_seconds',
      'Time since all texts last had their vectors, in seconds; 0 if they have them now.',
      () => sources.embeddingBehindMs() / 1000,
    ),
    known('granary_disk_free_bytes', 'Free bytes on the disk of the data directory.', () => sources.disk()?.freeBytes),
    known('granary_disk_size_bytes', 'Size of the disk of the data directory.', () => sources.disk()?.sizeBytes),
    known(
      'granary_backup_age_seconds',
      'Time since the last backup, in seconds; no value before the first one.',
      sources.backupAgeSeconds,
    ),
    {
      name: 'granary_build_info',
      help: 'Always 1; its labels are the version of Granary and of Node.',
      type: 'gauge',
      values: () => [{ value: 1, labels: { version: VERSION, node: process.versions.node } }],
    },
    gauge('granary_event_streams', 'Streams of events that are open.', sources.eventStreams),
    gauge('granary_webhooks', 'Webhooks whose deliveries run.', sources.webhooks),
    byOutcome(
      'granary_webhook_deliveries_total',
      'Deliveries to webhooks, by outcome: delivered, failed (an attempt), or dead (given up).',
      () => {
        const { delivered, failed, dead } = sources.deliveries();
        return { delivered, failed, dead };
      },
    ),
    counter(
      'granary_webhook_pauses_total',
      'Pauses of a webhook after too many failures.',
      () => sources.deliveries().paused,
    ),
    counter('granary_retention_sweeps_total', 'Completed sweeps for expired grains.', () => sources.sweeps().sweeps),
    counter('granary_expired_grains_total', 'Expired grains that sweeps removed.', () => sources.sweeps().grains),
  ];
}

/** A gauge without a series while its value is not known. */
function known(name: string, help: string, read: () => number | undefined): Family {
  const values = () => {
    const value = read();
    return value === undefined ? [] : [{ value }];
  };
  return { name, help, type: 'gauge', values };
}

/** A counter with the label `outcome`. */
function byOutcome(name: string, help: string, counts: () => Readonly<Record<string, number>>): Family {
  const values = () => Object.entries(counts()).map(([outcome, value]) => ({ labels: { outcome }, value }));
  return { name, help, type: 'counter', values };
}
