// Counts the work of a shard since it was opened, for the counters of the process.
import { type Counted, Histogram } from './histogram.ts';

/** Upper bounds in seconds, from a tenth of a millisecond. */
export const STEP_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
export const GROUP_WRITES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/**
 * The steps of a recall: `statistics` of its words, `candidates` of its legs, `fusion` and `fetch` of the hits. With
 * several partitions, fusion runs outside of the shards.
 */
export const RECALL_STAGES = ['statistics', 'candidates', 'fusion', 'fetch'] as const;
export type RecallStage = (typeof RECALL_STAGES)[number];

/** The counters as they cross threads. */
export interface ShardCounts {
  /** Writes of each committed group. Their number is the number of groups. */
  readonly groupWrites: Counted;
  readonly queueSeconds: Counted;
  readonly commitSeconds: Counted;
  readonly syncSeconds: Counted;
  readonly recallSeconds: Readonly<Record<RecallStage, Counted>>;
  readonly seals: number;
  readonly merges: number;
  /** Files that were uploaded to a database, and attempts that failed. */
  readonly uploads: number;
  readonly uploadFailures: number;
  /** Segments and vectors that a database does not have yet. */
  readonly pendingUploads: number;
  /** Memories whose index blocks are still to be rewritten after an erasure. */
  readonly pendingPurges: number;
  /** The cache of opened grains. */
  readonly opened: OpenedCounts;
}

/** Bytes of the cache now, and reads for answers that found their grain there or did not. */
export interface OpenedCounts {
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

export class ShardCounters {
  readonly groupWrites = new Histogram(GROUP_WRITES);
  /** From the request to its group. */
  readonly queueSeconds = new Histogram(STEP_SECONDS);
  /** The append of a group, with the wait for the write before it and its fsync. */
  readonly commitSeconds = new Histogram(STEP_SECONDS);
  /** A write with its fsync, which shards of one worker share: one of them counts it. */
  readonly syncSeconds = new Histogram(STEP_SECONDS);
  readonly recallSeconds: Readonly<Record<RecallStage, Histogram>> = {
    statistics: new Histogram(STEP_SECONDS),
    candidates: new Histogram(STEP_SECONDS),
    fusion: new Histogram(STEP_SECONDS),
    fetch: new Histogram(STEP_SECONDS),
  };
  seals = 0;
  merges = 0;
  uploads = 0;
  uploadFailures = 0;

  /** Counts a stage that began at `fromMs` of this process. Returns the present time, where the next stage begins. */
  stage(stage: RecallStage, fromMs: number): number {
    const nowMs = performance.now();
    this.recallSeconds[stage].observe((nowMs - fromMs) / 1000);
    return nowMs;
  }

  counts(opened: OpenedCounts, pendingPurges: number, pendingUploads: number): ShardCounts {
    const { statistics, candidates, fusion, fetch } = this.recallSeconds;
    return {
      groupWrites: this.groupWrites.counted,
      queueSeconds: this.queueSeconds.counted,
      commitSeconds: this.commitSeconds.counted,
      syncSeconds: this.syncSeconds.counted,
      recallSeconds: {
        statistics: statistics.counted,
        candidates: candidates.counted,
        fusion: fusion.counted,
        fetch: fetch.counted,
      },
      seals: this.seals,
      merges: this.merges,
      uploads: this.uploads,
      uploadFailures: this.uploadFailures,
      pendingUploads,
      pendingPurges,
      opened,
    };
  }
}
