// The families of /metrics about shards and their workers.
import { type Counted, sumOfCounted } from '../../engine/base/histogram.ts';
import { HEALTH_WAIT_MS } from '../../engine/base/limits.ts';
import { GROUP_WRITES, RECALL_STAGES, type ShardCounts, STEP_SECONDS } from '../../engine/base/shard-counters.ts';
import type { ShardHealth } from '../../shards/protocol.ts';
import type { WorkerHealth } from '../../shards/transport/shard-set.ts';
import { type Family, histogramSamples, type Sample } from './family.ts';

export interface ShardSources {
  readonly health: () => Promise<readonly ShardHealth[]>;
  /** Counters of each shard; undefined for one that does not answer. */
  readonly counts: (shard: number) => Promise<ShardCounts | undefined>;
  readonly workers: () => readonly WorkerHealth[];
}

/** The shards at one scrape. */
interface Seen {
  readonly health: readonly ShardHealth[];
  readonly counts: readonly ShardCounts[];
}

/** Families read the shards together: a scrape asks each shard once. */
class Scrapes {
  readonly #sources: ShardSources;
  #asking: Promise<Seen> | undefined;
  /** The last counters of each shard: a busy one keeps them, so that no counter goes back. */
  readonly #known = new Map<number, ShardCounts>();

  constructor(sources: ShardSources) {
    this.#sources = sources;
  }

  seen(): Promise<Seen> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<Seen> {
    const health = await this.#sources.health();
    await Promise.all(
      health.map(async ({ shard }) => {
        const counts = await inTime(this.#sources.counts(shard));
        if (counts !== undefined) this.#known.set(shard, counts);
      }),
    );
    return { health, counts: [...this.#known.values()] };
  }
}

/** Undefined when the answer is late. */
async function inTime<T>(answer: Promise<T | undefined>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), HEALTH_WAIT_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function shardFamilies(sources: ShardSources): Family[] {
  const scrapes = new Scrapes(sources);
  const ofShards = (name: string, help: string, read: (health: ShardHealth) => number): Family => ({
    name,
    help,
    type: 'gauge',
    values: async () =>
      (await scrapes.seen()).health.map((one) => ({ labels: { shard: String(one.shard) }, value: read(one) })),
  });
  const summed = (name: string, help: string, read: (counts: ShardCounts) => number): Family => ({
    name,
    help,
    type: 'counter',
    values: async () => [{ value: (await scrapes.seen()).counts.reduce((sum, one) => sum + read(one), 0) }],
  });
  const histogram = (
    name: string,
    help: string,
    [bounds, read]: readonly [readonly number[], (counts: ShardCounts) => Counted],
  ): Family => ({
    name,
    help,
    type: 'histogram',
    values: async () =>
      histogramSamples(name, bounds, sumOfCounted((await scrapes.seen()).counts.map(read), bounds.length + 1)),
  });
  return [
    ofShards('granary_shard_up', 'Whether the shard takes writes: 1 or 0.', ({ ok }) => (ok ? 1 : 0)),
    ofShards('granary_shard_queued_writes', 'Writes that wait in the shard.', ({ pendingWrites }) => pendingWrites),
    ofShards('granary_shard_tail_grains', 'Grains in the mutable part of the index.', ({ tailGrains }) => tailGrains),
    ofShards('granary_shard_segments', 'Segment files of the index.', ({ segments }) => segments),
    ofShards(
      'granary_shard_unsealed_records',
      'Records of the log that no segment file covers.',
      ({ sequence, sealedSequence }) => Math.max(0, sequence - sealedSequence),
    ),
    histogram('granary_group_writes', 'Writes in a committed group.', [GROUP_WRITES, (one) => one.groupWrites]),
    histogram('granary_queue_wait_seconds', 'Time from a write to its group, in seconds.', [
      STEP_SECONDS,
      (one) => one.queueSeconds,
    ]),
    histogram('granary_commit_seconds', 'Time until a group is durable, in seconds.', [
      STEP_SECONDS,
      (one) => one.commitSeconds,
    ]),
    histogram('granary_fsync_seconds', 'Time of a write to the write-ahead files with its sync, in seconds.', [
      STEP_SECONDS,
      (one) => one.syncSeconds,
    ]),
    {
      name: 'granary_recall_stage_seconds',
      help: 'Time of one stage of a recall in a shard, in seconds.',
      type: 'histogram',
      values: async () => recallSamples((await scrapes.seen()).counts),
    },
    purges(async () => (await scrapes.seen()).counts),
    summed('granary_seals_total', 'Tails that were sealed into a segment.', ({ seals }) => seals),
    summed('granary_merges_total', 'Merges of segments.', ({ merges }) => merges),
    ...uploadFamilies(summed, async () => (await scrapes.seen()).counts),
    ...openedFamilies(summed, async () => (await scrapes.seen()).counts),
    ...workerFamilies(sources),
  ];
}

function purges(seen: () => Promise<readonly ShardCounts[]>): Family {
  return {
    name: 'granary_pending_purges_memories',
    help: 'Memories whose index still holds blocks of erased grains, counted in each shard.',
    type: 'gauge',
    values: async () => [{ value: (await seen()).reduce((sum, { pendingPurges }) => sum + pendingPurges, 0) }],
  };
}

type Summed = (name: string, help: string, read: (counts: ShardCounts) => number) => Family;

function uploadFamilies(summed: Summed, seen: () => Promise<readonly ShardCounts[]>): Family[] {
  return [
    summed(
      'granary_segment_uploads_total',
      'Files of segments and vectors that were uploaded to the database.',
      ({ uploads }) => uploads,
    ),
    summed(
      'granary_segment_upload_failures_total',
      'Attempts to upload segments that failed; each is tried again.',
      ({ uploadFailures }) => uploadFailures,
    ),
    {
      name: 'granary_pending_uploads_files',
      help: 'Files of segments and vectors that the database does not have yet.',
      type: 'gauge',
      values: async () => [{ value: (await seen()).reduce((sum, { pendingUploads }) => sum + pendingUploads, 0) }],
    },
  ];
}

function openedFamilies(summed: Summed, seen: () => Promise<readonly ShardCounts[]>): Family[] {
  return [
    {
      name: 'granary_opened_cache_bytes',
      help: 'Heap of the opened grains that shards keep for further answers.',
      type: 'gauge',
      values: async () => [{ value: (await seen()).reduce((sum, { opened }) => sum + opened.bytes, 0) }],
    },
    summed(
      'granary_opened_cache_hits_total',
      'Reads that found their grain opened already.',
      ({ opened }) => opened.hits,
    ),
    summed(
      'granary_opened_cache_misses_total',
      'Reads for an answer that opened their grain.',
      ({ opened }) => opened.misses,
    ),
  ];
}

function recallSamples(counts: readonly ShardCounts[]): Sample[] {
  return RECALL_STAGES.flatMap((stage) => {
    const counted = sumOfCounted(
      counts.map(({ recallSeconds }) => recallSeconds[stage]),
      STEP_SECONDS.length + 1,
    );
    return histogramSamples('granary_recall_stage_seconds', STEP_SECONDS, counted, { stage });
  });
}

function workerFamilies({ workers }: ShardSources): Family[] {
  const ofWorkers = (read: (health: WorkerHealth) => number) => () =>
    workers().map((one) => ({ labels: { worker: String(one.worker) }, value: read(one) }));
  return [
    {
      name: 'granary_worker_pending_calls',
      help: 'Calls that the worker has not answered.',
      type: 'gauge',
      values: ofWorkers(({ pendingItems }) => pendingItems),
    },
    {
      name: 'granary_worker_pending_bytes',
      help: 'Bytes of the calls that the worker has not answered.',
      type: 'gauge',
      values: ofWorkers(({ pendingBytes }) => pendingBytes),
    },
    {
      name: 'granary_shard_refused_calls_total',
      help: 'Calls for the shard that were refused because too many waited for its worker.',
      type: 'counter',
      values: () =>
        workers()
          .flatMap(({ refused }) => refused)
          .map(({ shard, calls }) => ({ labels: { shard: String(shard) }, value: calls })),
    },
    {
      name: 'granary_worker_restarts_total',
      help: 'Restarts of the worker.',
      type: 'counter',
      values: ofWorkers(({ restarts }) => restarts),
    },
  ];
}
