// Calls on a shard as a whole.
import type { ShardCounts } from '../base/shard-counters.ts';
import type { StageColumns } from '../base/stage-times.ts';
import type { EmbedderStamp } from './recall.ts';
import type { ShardRowsOf } from './row.ts';

export interface ShardHealth {
  readonly shard: number;
  readonly ok: boolean;
  readonly reasons: readonly string[];
  readonly pendingWrites: number;
  readonly tailGrains: number;
  readonly segments: number;
  readonly sequence: number;
  readonly sealedSequence: number;
}

/** One finding of a verification. */
export interface VerifyFinding {
  readonly shard: number;
  readonly kind: 'record' | 'blob' | 'segment' | 'vectors' | 'index' | 'audit' | 'key';
  readonly where: string;
  readonly problem: string;
}

export interface VerifyReport {
  readonly records: number;
  readonly grains: number;
  readonly blocks: number;
  readonly auditEntries: number;
  readonly findings: readonly VerifyFinding[];
}

/** Calls on a shard as a whole; their context's memory is 0. */
export interface ShardWideCalls {
  health: { input: Record<never, never>; output: ShardHealth };
  /** Counters of the work of the shard since it was opened. */
  counters: { input: Record<never, never>; output: ShardCounts };
  verify: { input: Record<never, never>; output: VerifyReport };
  /** Copies the shard's data into `dataDirectory` and its keys into `keysDirectory` (both made by the caller). */
  backup: { input: { dataDirectory: string; keysDirectory: string }; output: { bytes: number } };
  /**
   * Rewraps every key of the shard under the first of these master keys (raw, 32 bytes each). The others only unwrap
   * keys that are still under them. A repeat completes an interrupted call.
   */
  rewrapKeys: { input: { masterKeys: readonly Uint8Array[] }; output: { rewrapped: number } };
  /**
   * Pages of grains to embed: ranges of memories' logs, above `after` and up to `upTo`, with the text of their grains.
   * `embedders` by backend name (MemorySettings.vectorBackend, '' for memories that name none): each becomes the
   * embedder of its memories, and memories with other backends are skipped. `waiting`: memories with work left,
   * including these pages; `looked`: how many of them this call examined.
   */
  embedPages: {
    input: {
      embedders: Readonly<Record<string, EmbedderStamp>>;
      grainsMax: number;
      /** Backends of external services. Each memory's policy decides which of its texts may go to them. */
      outside?: readonly string[] | undefined;
      /** Where these services process texts, as policies name regions. */
      region?: string | undefined;
      /** True: return short, recent grains ahead of older waiting ones. */
      fresh?: true | undefined;
    };
    output: {
      pages: readonly {
        readonly memory: number;
        readonly backend: string;
        readonly after: number;
        readonly upTo: number;
        /** For a fresh page: how far the memory was embedded when the page was made. */
        readonly aheadOf?: number;
        readonly grains: readonly { readonly ordinal: number; readonly text: string }[];
      }[];
      looked: number;
      waiting: number;
    };
  };
  /** Stores the vectors of a page: for each grain its unit vectors as 4-byte floats, concatenated. */
  keepVectors: {
    input: {
      memory: number;
      embedder: EmbedderStamp;
      after: number;
      upTo: number;
      /** The value from `embedPages`. */
      aheadOf?: number | undefined;
      grains: readonly { readonly ordinal: number; readonly vectors: Uint8Array }[];
    };
    output: { kept: number };
  };
  /**
   * The memories of this shard that got events after a place in its history. Waits for the next event if there are none.
   * Answers at once without a place, or with a place from before a restart; then `memories` is absent, and any memory may
   * have events. `release` answers the calls that wait, and this one.
   */
  awaitEvents: {
    input: { after?: { readonly epoch: number; readonly tick: number } | undefined; release?: true | undefined };
    output: { readonly epoch: number; readonly tick: number; readonly memories?: readonly number[] | undefined };
  };
  /** Numbers of the memories of this shard that have turns of harnesses that are not over. */
  openTurns: { input: Record<never, never>; output: { readonly memories: readonly number[] } };
  /** The stages of traced calls that the shard noted since the last call. */
  takeStages: { input: Record<never, never>; output: StageColumns };
  /** Fault hook, refused unless the server was started for tests. */
  fault: { input: { kind: 'throw' | 'exit' }; output: Record<never, never> };
}

export const SHARD_ROWS = {
  health: { kind: 'read', trail: 'nothing', refusal: 'each' },
  counters: { kind: 'read', trail: 'nothing', refusal: 'each' },
  verify: { kind: 'long', changes: 'nothing' },
  backup: { kind: 'long', changes: 'nothing' },
  rewrapKeys: { kind: 'long', changes: 'keys', retry: 'same' },
  embedPages: { kind: 'read', trail: 'nothing', refusal: 'each' },
  keepVectors: { kind: 'write', by: 'own', changes: 'files', retry: 'same' },
  awaitEvents: { kind: 'long', changes: 'nothing' },
  openTurns: { kind: 'read', trail: 'nothing', refusal: 'each' },
  takeStages: { kind: 'read', trail: 'nothing', refusal: 'each' },
  fault: { kind: 'host' },
} as const satisfies ShardRowsOf<ShardWideCalls>;
