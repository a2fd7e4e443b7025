// A shard as a whole.
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
  verify: { input: Record<never, never>; output: VerifyReport };
  /** Copies the shard's data into `dataDirectory` and its keys into `keysDirectory` (both made by the caller). */
  backup: { input: { dataDirectory: string; keysDirectory: string }; output: { bytes: number } };
  /**
   * Wraps every key of the shard under the first of these master keys (raw, 32 bytes each); the others open what is
   * wrapped under them until then. Calling again completes what was cut short.
   */
  rewrapKeys: { input: { masterKeys: readonly Uint8Array[] }; output: { rewrapped: number } };
  /**
   * What waits to be embedded: stretches of memories' logs, above `after` and up to `upTo`, and their grains with words.
   * `embedders` by what memories call them (MemorySettings.vectorBackend, '' for those that name none): each is that of its memories
   * from then on, and memories of others are left out. `waiting`: memories with something left, these pages included; `looked`: how
   * many of them this call has looked at.
   */
  embedPages: {
    input: {
      embedders: Readonly<Record<string, EmbedderStamp>>;
      grainsMax: number;
      /** Backends whose embedders are services outside: texts are given for them as each memory's policy lets them leave. */
      outside?: readonly string[];
      /** True: what was just written and is short, ahead of what waits before it. */
      fresh?: true;
    };
    output: {
      pages: readonly {
        readonly memory: number;
        readonly backend: string;
        readonly after: number;
        readonly upTo: number;
        /** Of a fresh page: how far the memory was embedded when it was made. */
        readonly aheadOf?: number;
        readonly grains: readonly { readonly ordinal: number; readonly text: string }[];
      }[];
      looked: number;
      waiting: number;
    };
  };
  /** Keeps the vectors of a page: of each grain its unit vectors as 4-byte floats, one behind the other. */
  keepVectors: {
    input: {
      memory: number;
      embedder: EmbedderStamp;
      after: number;
      upTo: number;
      /** As `embedPages` gave it. */
      aheadOf?: number;
      grains: readonly { readonly ordinal: number; readonly vectors: Uint8Array }[];
    };
    output: { kept: number };
  };
  /** Fault hook for tests; refused unless the server was started for tests. */
  fault: { input: { kind: 'throw' | 'exit' }; output: Record<never, never> };
}

export const SHARD_ROWS = {
  health: { kind: 'read', trail: 'nothing', refusal: 'each' },
  verify: { kind: 'long', changes: 'nothing' },
  backup: { kind: 'long', changes: 'nothing' },
  rewrapKeys: { kind: 'long', changes: 'keys', retry: 'same' },
  embedPages: { kind: 'read', trail: 'nothing', refusal: 'each' },
  keepVectors: { kind: 'write', by: 'own', changes: 'files', retry: 'same' },
  fault: { kind: 'host' },
} as const satisfies ShardRowsOf<ShardWideCalls>;
