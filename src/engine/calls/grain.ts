// Grains as calls take and give them. Names are camelCase; a grain's own fields keep their wire names (snake_case), as JSON.

import type { WireError } from '../base/errors.ts';
import type { ScopeView } from '../govern/scope-tree.ts';
import type { JsonObject, JsonValue } from '../grain/api/json-value.ts';
import type { Facet, Verification } from '../index/parts/part.ts';
import type { RowsOf } from './row.ts';

/** A grain as answers show it. `fields` holds every field with answer defaults filled, times in seconds. */
export interface GrainView {
  readonly hash: string;
  readonly grainType: string;
  readonly fields: JsonObject;
  /** Seconds, as answers show it. */
  readonly createdAt: number;
  /** Milliseconds: what orders grains, here and when answers of several partitions are merged. */
  readonly createdAtMs: number;
  readonly namespace: string;
  readonly userId?: string;
  readonly supersededBy?: string;
  readonly supersedes?: string;
  /**
   * Of a known grain that was read again: hashes of its further sources, the newest first. At least one. A partition answers with the
   * names of those that others hold, which the router puts hashes in the place of.
   */
  readonly sources?: readonly string[];
  readonly sizeBytes: number;
}

/** Structural conditions; all given ones must hold. Times in epoch ms, inclusive. */
export interface GrainFilter {
  readonly grainTypes?: readonly string[];
  readonly namespace?: string;
  readonly userId?: string;
  readonly sessionId?: string;
  readonly subject?: string;
  readonly relation?: string;
  readonly object?: string;
  /** A part of it, whatever its case. */
  readonly subjectContains?: string;
  readonly objectContains?: string;
  /** Subject or object. */
  readonly entity?: string;
  /** Of each: a grain has one of the values. An empty list lets nothing through. */
  readonly anyOf?: readonly { readonly facet: Facet; readonly values: readonly string[] }[];
  /** Of each: a grain has the field, and none of the values. Fields are those of `store/indexed-fields.ts`. */
  readonly otherThan?: readonly { readonly field: string; readonly values: readonly string[] }[];
  /** Of each list: a grain passes one of the filters, which ask for facets and columns alone. */
  readonly either?: readonly (readonly GrainFilter[])[];
  /** A grain passes none of them. */
  readonly except?: readonly GrainFilter[];
  /** One of these was said of a grain last; nothing passes an empty list. */
  readonly verification?: readonly Verification[];
  readonly tags?: readonly string[];
  readonly excludeTags?: readonly string[];
  readonly createdFromMs?: number;
  readonly createdToMs?: number;
  /** By the time that a grain tells of: its `timestamp_ms`, else when it was created. */
  readonly timeFromMs?: number;
  readonly timeToMs?: number;
  readonly validFromMs?: number;
  readonly validToMs?: number;
  /** Either the creation or the beginning of validity lies within. */
  readonly eitherTime?: { readonly fromMs?: number; readonly toMs?: number };
  readonly confidenceMin?: number;
  readonly importanceMin?: number;
  /** A grain without confidence counts as 1, as it is shown; one without importance passes none. */
  readonly numbers?: readonly NumberTest[];
  /** No others: full addresses. */
  readonly addresses?: readonly string[];
  /** Addresses that begin with these 8 to 64 hex digits. */
  readonly addressPrefix?: string;
  readonly includeSuperseded?: boolean;
  readonly scope?: ScopeView;
}

export interface NumberTest {
  readonly field: 'confidence' | 'importance';
  readonly op: '=' | '!=' | '>=' | '<=' | '>' | '<';
  readonly value: number;
}

export interface AddItem {
  readonly grainType: string;
  readonly fields: JsonObject;
  /**
   * How the audit trail calls this add; absent: `memory.added`. What is `memory.extracted` is refused (MEM-E001) when the
   * grain that it is derived from is gone.
   */
  readonly event?: 'memory.remembered' | 'memory.extracted';
  /** Of what is extracted, over several partitions: its source as the partition told it that holds it. */
  readonly source?: ExtractedFrom;
  /** Stores nothing: a grain that is known gains the source. MEM-E001 where none is known. */
  readonly knownOnly?: true;
  /** Names of further sources of the known grain, in other partitions, that are gone: they make room. */
  readonly gone?: readonly string[];
}

/** What the partition of a known grain has to know of a further source that another one may hold. */
export interface ExtractedFrom {
  /** What the trail of the known grain's partition calls it. */
  readonly name: string;
  readonly namespace: string;
  readonly userId?: string;
  /** SHA-256 of its text as stored, in hex; absent without a text. */
  readonly textHash?: string;
}

/** What one partition knows of a belief that is about to be stored. */
export interface KnownFact {
  /** The call's idempotency key has an answer for it here. */
  readonly answered: boolean;
  /** Stored here it would be a duplicate. */
  readonly known: boolean;
  /** The same for one that comes from a text with one of these hashes: what such a text stated was replaced since. */
  readonly fromTexts: readonly string[];
  /** Names of its further sources in other partitions, where it has as many sources as are kept. */
  readonly elsewhere?: readonly string[];
}

export type AddOutcome =
  | {
      readonly hash: string;
      readonly grainType: string;
      readonly duplicate: boolean;
      readonly warnings: readonly string[];
    }
  | { readonly error: WireError; readonly grainType: string };

export interface Accumulated {
  readonly oldHash: string;
  readonly newHash: string;
  readonly applied: readonly { readonly field: string; readonly old: JsonValue; readonly new: JsonValue }[];
  readonly fields: JsonObject;
}

export interface VersionView {
  readonly hash: string;
  readonly grainType: string;
  readonly fields: JsonObject;
  readonly createdAt: number;
  readonly relation: 'original' | 'superseded' | 'supersedes';
}

/** A blob on its way out: the plaintext `.mg` bytes and what the index layer knows of it. */
export interface ExportedGrain {
  readonly hash: string;
  readonly blob: Uint8Array;
  readonly supersededBy?: string;
  readonly systemValidToMs?: number;
  readonly verificationStatus?: string;
}

/** What a file says of one of its grains beside the grain's own bytes. */
export type ManifestEntry = Omit<ExportedGrain, 'blob'>;

/** An entry of a manifest that does not count. The error does not tell whether a grain exists that the caller does not see. */
export interface RefusedEntry {
  readonly hash: string;
  readonly error: WireError;
}

/** The calls that write, read and version grains. */
export interface GrainCalls {
  add: {
    input: AddItem & { sync: boolean };
    output: { hash: string; duplicate: boolean; warnings: readonly string[] };
  };
  /** `places`: of the items in the whole batch, where this is a part of it; a repeat of the batch goes by them. */
  addBatch: {
    input: { items: readonly AddItem[]; sync?: boolean; places?: readonly number[] };
    output: { outcomes: readonly AddOutcome[] };
  };
  /**
   * Stores blobs, then what the manifest says of them. An entry counts for a grain that this call accepts, or that an earlier call of
   * the same import accepted (`accepted`), and is decided as a supersede is; `refused` names those that do not count.
   */
  importBlobs: {
    input: {
      blobs: readonly Uint8Array[];
      manifest: readonly ManifestEntry[];
      accepted?: readonly string[];
    };
    output: { outcomes: readonly AddOutcome[]; refused: readonly RefusedEntry[] };
  };
  get: { input: { hash: string }; output: GrainView };
  getRaw: { input: { hash: string }; output: { blob: Uint8Array } };
  /** Which of these hashes this partition holds (any version, not removed). */
  locate: { input: { hashes: readonly string[] }; output: { held: readonly boolean[] } };
  list: {
    input: {
      filter: GrainFilter;
      limit: number;
      order: 'asc' | 'desc';
      after?: { createdAtMs: number; hash: string };
      offset?: number;
      /** What the grains may come to as JSON, in place of what an answer may. The page ends before it would. */
      bytesMax?: number;
    };
    output: {
      grains: readonly GrainView[];
      total: number;
      more: boolean;
      /** Place of the last grain given, to be sent back as `after`; there when `more` is true. */
      next?: { createdAtMs: number; hash: string };
    };
  };
  /** Grains by hash, in that order; fewer than hashes where they would be more than `bytesMax` bytes of blobs. */
  fetch: {
    input: { hashes: readonly string[]; bytesMax?: number };
    output: { grains: readonly (GrainView | null)[] };
  };
  supersede: {
    input: { oldHash: string; grainType?: string; fields: JsonObject };
    output: { oldHash: string; newHash: string; warnings: readonly string[] };
  };
  accumulate: {
    input: {
      target: { hash: string } | { namespace?: string; subject: string; relation: string };
      deltas: Readonly<Record<string, number>>;
      set: JsonObject;
    };
    output: Accumulated;
  };
  /** `after`: a version that was told already. `next`: where the rest goes on, which has no room in one answer. */
  history: {
    input: { hash: string; after?: string };
    output: { versions: readonly VersionView[]; next?: string };
  };
  /** Namespaces of grains that the filter lets through, old versions too, in any order. */
  namespaces: { input: { filter: GrainFilter }; output: { namespaces: readonly string[] } };
  /**
   * What a partition knows of beliefs that were extracted: `places` as in `addBatch`, `sources` hashes of what they were extracted
   * from. In that order; null for a source that is not here.
   */
  knownFacts: {
    input: { items: readonly AddItem[]; places: readonly number[]; sources: readonly string[] };
    output: { facts: readonly KnownFact[]; sources: readonly (ExtractedFrom | null)[] };
  };
  /** Grains in ordinal order, for exports. `after` is the last ordinal of the page before. */
  exportPage: {
    input: { after: number; limitBytes: number; filter: GrainFilter };
    output: { grains: readonly ExportedGrain[]; last: number; done: boolean };
  };
}

export const GRAIN_ROWS = {
  add: { kind: 'write', by: 'own', changes: 'grains', retry: 'keyed', gather: 'own', governed: 'writes' },
  addBatch: { kind: 'write', by: 'own', changes: 'grains', retry: 'keyed', gather: 'own', governed: 'writes' },
  importBlobs: { kind: 'write', by: 'own', changes: 'grains', retry: 'keyed', gather: 'own', governed: 'writes' },
  get: { kind: 'read', trail: 'entry', refusal: 'each', gather: 'own', governed: 'reads' },
  getRaw: { kind: 'read', trail: 'entry', refusal: 'each', gather: 'holder', governed: 'reads' },
  locate: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'merged',
    governed: { nothing: 'which partition is to be asked' },
  },
  list: { kind: 'read', trail: 'entry', refusal: 'first', gather: 'own', governed: 'reads' },
  fetch: { kind: 'read', trail: 'nothing', refusal: 'each', gather: 'own', governed: 'reads' },
  supersede: { kind: 'write', by: 'plan', changes: 'grains', retry: 'keyed', gather: 'own', governed: 'writes' },
  accumulate: { kind: 'write', by: 'plan', changes: 'grains', retry: 'keyed', gather: 'own', governed: 'writes' },
  history: { kind: 'read', trail: 'entry', refusal: 'each', gather: 'holder', governed: 'reads' },
  namespaces: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'names of places' },
  },
  knownFacts: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'never',
    governed: { nothing: 'asked within the deployment, for an add, which is refused' },
  },
  exportPage: { kind: 'long', changes: 'nothing', gather: 'own', governed: 'reads', refusal: 'none' },
} as const satisfies RowsOf<GrainCalls>;
