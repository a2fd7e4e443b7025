// Calls on grains, with their data types. Members are camelCase; a grain's own fields are JSON with their wire names
// (snake_case).

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
  /** Its sentence, made by a worker where the fields are heavy, because reading them costs the main thread much. */
  readonly text?: string;
  /** In seconds, for answers. */
  readonly createdAt: number;
  /** In milliseconds. Sorts grains, in a partition and in the merged answers of several. */
  readonly createdAtMs: number;
  readonly namespace: string;
  readonly userId?: string;
  readonly supersededBy?: string;
  /** Set for a superseded grain whose next version is not shown: it was erased, or is outside the caller's binding. */
  readonly isSuperseded?: true;
  readonly supersedes?: string;
  /**
   * Hashes of the further sources of a known grain, newest first, at least one. For a source in another partition, a
   * partition answers with its grain name; the router replaces it with the hash.
   */
  readonly sources?: readonly string[];
  readonly sizeBytes: number;
}

/** Structural conditions; all given ones must hold. Times in epoch ms, inclusive. */
export interface GrainFilter {
  readonly grainTypes?: readonly string[] | undefined;
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
  /** The grain is about this user, or about no user: what may be shown in a conversation with that user. */
  readonly forUser?: string | undefined;
  /** The grain has this session, or its namespace has this name. */
  readonly sessionId?: string | undefined;
  /** The grain lies where the definition of a harness does. */
  readonly harnessDefinition?: true | undefined;
  readonly subject?: string | undefined;
  readonly relation?: string | undefined;
  readonly object?: string | undefined;
  /** A substring of the subject, ignoring case. */
  readonly subjectContains?: string | undefined;
  readonly objectContains?: string | undefined;
  /** The subject or the object. */
  readonly entity?: string | undefined;
  /** For each element: the grain has one of the values. An empty list matches nothing. */
  readonly anyOf?: readonly { readonly facet: Facet; readonly values: readonly string[] }[] | undefined;
  /**
   * For each element: the grain has the field with none of these values. The fields are listed in
   * `store/indexed-fields.ts`.
   */
  readonly otherThan?: readonly { readonly field: string; readonly values: readonly string[] }[] | undefined;
  /** For each list: the grain passes one of its filters. These may use facets and columns only. */
  readonly either?: readonly (readonly GrainFilter[])[] | undefined;
  /** The grain passes none of these filters. */
  readonly except?: readonly GrainFilter[] | undefined;
  /** The grain's verification is one of these. An empty list matches nothing. */
  readonly verification?: readonly Verification[] | undefined;
  /** The grain has all of these tags. */
  readonly tags?: readonly string[] | undefined;
  /** The grain has none of these tags. */
  readonly excludeTags?: readonly string[] | undefined;
  readonly createdFromMs?: number | undefined;
  readonly createdToMs?: number | undefined;
  /** Bounds of the grain's own time: its `timestamp_ms`, otherwise its creation time. */
  readonly timeFromMs?: number | undefined;
  readonly timeToMs?: number | undefined;
  /** Bounds of the start of validity. A grain without one fails. */
  readonly validFromMs?: number | undefined;
  readonly validToMs?: number | undefined;
  /** Either the creation time or the start of validity lies in this range. */
  readonly eitherTime?: { readonly fromMs?: number | undefined; readonly toMs?: number | undefined } | undefined;
  readonly confidenceMin?: number | undefined;
  readonly importanceMin?: number | undefined;
  /**
   * Tests of confidence and importance. A missing confidence counts as 1, as answers show it; a missing importance
   * fails every test.
   */
  readonly numbers?: readonly NumberTest[] | undefined;
  /** Only these grains, by full address. */
  readonly addresses?: readonly string[] | undefined;
  /** Only addresses with this prefix of 8 to 64 hex digits. */
  readonly addressPrefix?: string | undefined;
  readonly includeSuperseded?: boolean | undefined;
  readonly scope?: ScopeView | undefined;
}

/** A place in the order of creation, ties by hash. */
export interface GrainPlace {
  readonly createdAtMs: number;
  readonly hash: string;
}

export type EdgeDirection = 'out' | 'in' | 'both';

/** A grain as an edge from its subject to its object, both in the form in which they are compared. */
export interface EdgeView extends GrainPlace {
  readonly source: string;
  readonly relation: string;
  readonly target: string;
  /** 0 to 1. */
  readonly confidence: number;
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
   * Event type of the audit entry; absent: `memory.added`. A `memory.extracted` add is refused (MEM-E001) if its source
   * grain is gone.
   */
  readonly event?: 'memory.remembered' | 'memory.extracted' | 'goal.created' | undefined;
  /** The number of grains that the server related it to, as the caller asked (`auto_relate`). */
  readonly related?: number | undefined;
  /** For an extracted belief over several partitions: its source, as described by the partition that holds it. */
  readonly source?: ExtractedFrom | undefined;
  /** Hash of the message that it answers or follows from, of the same session: MEM-E001 if that is gone. */
  readonly answers?: string | undefined;
  /** Stores nothing: only decides whether the grain may be stored. */
  readonly check?: true | undefined;
  /** Stores no grain: only adds the source to a known grain. MEM-E001 if no grain states the fact. */
  readonly knownOnly?: true | undefined;
  /**
   * Names of the known grain's further sources in other partitions that are gone. They no longer count against the
   * limit.
   */
  readonly gone?: readonly string[] | undefined;
  /**
   * For a goal over several partitions: hashes that goals above it name and that no partition holds. VAL-E001 if the new
   * goal is one of them, as it would become its own ancestor.
   */
  readonly awaited?: readonly string[] | undefined;
}

/** The properties of a source that the known grain's partition needs. The source may be in another partition. */
export interface ExtractedFrom {
  /** Its name in the trail of the known grain's partition. */
  readonly name: string;
  readonly namespace: string;
  readonly userId?: string;
  /** SHA-256 of its stored text, in hex; absent if it has no text. */
  readonly textHash?: string;
}

/** The answer of one partition about a belief that is to be stored. */
export interface KnownFact {
  /** True if this partition has a stored reply for it under the call's idempotency key. */
  readonly answered: boolean;
  /** True if the belief would be a duplicate in this partition. */
  readonly known: boolean;
  /**
   * Text hashes for which the belief counts as known: a belief from such a text was stored and has been superseded
   * since.
   */
  readonly fromTexts: readonly string[];
  /** Names of its further sources in other partitions; present only if it has the maximum number of sources. */
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
  /** In the answer to a check. */
  readonly createdAtMs?: number;
}

export interface VersionView {
  readonly hash: string;
  readonly grainType: string;
  readonly fields: JsonObject;
  readonly createdAt: number;
  readonly relation: 'original' | 'superseded' | 'supersedes';
}

/** An exported grain: its plaintext `.mg` bytes and its index-layer state. */
export interface ExportedGrain {
  readonly hash: string;
  readonly blob: Uint8Array;
  readonly supersededBy?: string;
  readonly systemValidToMs?: number;
  readonly verificationStatus?: string;
}

/** The manifest's data on one grain of a file, without the grain's bytes. */
export type ManifestEntry = Omit<ExportedGrain, 'blob'>;

/** A manifest entry that was refused. The error does not reveal whether a grain exists that the caller may not see. */
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
  /**
   * Adds several grains. `places`: the items' positions in the whole batch, if this call is a part of it. They identify
   * the items when the batch is repeated.
   */
  addBatch: {
    input: { items: readonly AddItem[]; sync?: boolean | undefined; places?: readonly number[] | undefined };
    output: { outcomes: readonly AddOutcome[] };
  };
  /**
   * Refuses a grain that `add` would refuse for its fields or its policy, and stores nothing. Rules that depend on
   * other grains are not checked.
   */
  checkAdd: { input: AddItem; output: Record<never, never> };
  /**
   * Stores blobs, then applies their manifest entries. An entry is valid for a grain that this call accepts or that an
   * earlier call of the same import accepted (`accepted`); it is checked like a supersede. `refused` lists the entries
   * that failed.
   */
  importBlobs: {
    input: {
      blobs: readonly Uint8Array[];
      manifest: readonly ManifestEntry[];
      accepted?: readonly string[] | undefined;
    };
    output: { outcomes: readonly AddOutcome[]; refused: readonly RefusedEntry[] };
  };
  get: { input: { hash: string }; output: GrainView };
  getRaw: { input: { hash: string }; output: { blob: Uint8Array } };
  /** For each hash, true if this partition holds the grain: any version, not removed. */
  locate: { input: { hashes: readonly string[] }; output: { held: readonly boolean[] } };
  list: {
    input: {
      filter: GrainFilter;
      limit: number;
      order: 'asc' | 'desc';
      after?: { createdAtMs: number; hash: string } | undefined;
      offset?: number | undefined;
      /**
       * Maximum JSON bytes of the page's grains; replaces the default for an answer. The page ends before it exceeds
       * this.
       */
      bytesMax?: number | undefined;
    };
    output: {
      grains: readonly GrainView[];
      total: number;
      more: boolean;
      /** Position of the last returned grain, to be sent as `after`. Set if `more` is true. */
      next?: { createdAtMs: number; hash: string };
    };
  };
  /**
   * Edges of the graph at these nodes, by default at all of them, newest first, ties by hash: current grains with a subject
   * and an object. `out`: edges that leave a node, `in`: those that lead to one. `after`: the `next` of the page before.
   */
  edges: {
    input: {
      nodes?: readonly string[] | undefined;
      direction: EdgeDirection;
      relation?: string | undefined;
      limit: number;
      after?: GrainPlace | undefined;
    };
    /** `next` is there when edges follow, even if the page has none: a damaged grain must not end the graph. */
    output: { edges: readonly EdgeView[]; next?: GrainPlace | undefined };
  };
  /** Grains in the order of the hashes. Returns fewer than hashes if their blobs would exceed `bytesMax`. */
  fetch: {
    input: { hashes: readonly string[]; bytesMax?: number | undefined };
    output: { grains: readonly (GrainView | null)[] };
  };
  supersede: {
    input: { oldHash: string; grainType?: string | undefined; fields: JsonObject };
    output: { oldHash: string; newHash: string; warnings: readonly string[] };
  };
  accumulate: {
    input: {
      target: { hash: string } | { namespace?: string | undefined; subject: string; relation: string };
      deltas: Readonly<Record<string, number>>;
      set: JsonObject;
      /**
       * Writes nothing and refuses nothing: tells the partition's newest grain of the target as `oldHash`, '' without
       * one, and its `createdAtMs`.
       */
      check?: true | undefined;
    };
    output: Accumulated;
  };
  /**
   * All versions of a grain, oldest first. `after`: the last version of the previous page. `next`: where the next page
   * starts, if one answer has no room for all.
   */
  history: {
    /** `newest`: only so many, the last of the chain. */
    input: { hash: string; after?: string | undefined; newest?: number | undefined };
    output: { versions: readonly VersionView[]; next?: string };
  };
  /** Namespaces of the grains that pass the filter, old versions included, in any order. */
  namespaces: { input: { filter: GrainFilter }; output: { namespaces: readonly string[] } };
  /**
   * Looks up extracted beliefs in a partition. `places` as in `addBatch`; `sources`: hashes of the source grains.
   * Answers are in input order; null for a source that is not in this partition.
   */
  knownFacts: {
    input: { items: readonly AddItem[]; places: readonly number[]; sources: readonly string[] };
    output: { facts: readonly KnownFact[]; sources: readonly (ExtractedFrom | null)[] };
  };
  /** Grains in ordinal order, for exports. `after` is the last ordinal of the previous page. */
  exportPage: {
    input: { after: number; limitBytes: number; filter: GrainFilter };
    output: { grains: readonly ExportedGrain[]; last: number; done: boolean };
  };
}

export const GRAIN_ROWS = {
  add: {
    kind: 'write',
    by: 'own',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: 'writes',
    access: 'editor',
  },
  addBatch: {
    kind: 'write',
    by: 'own',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: 'writes',
    access: 'editor',
  },
  checkAdd: {
    kind: 'write',
    by: 'plan',
    changes: 'nothing',
    retry: 'same',
    gather: 'first',
    governed: 'writes',
    access: 'editor',
  },
  importBlobs: {
    kind: 'write',
    by: 'own',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: 'writes',
    access: 'editor',
  },
  get: { kind: 'read', trail: 'entry', refusal: 'each', gather: 'own', governed: 'reads', access: 'viewer' },
  getRaw: { kind: 'read', trail: 'entry', refusal: 'each', gather: 'holder', governed: 'reads', access: 'viewer' },
  locate: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'merged',
    governed: { nothing: 'which partition is to be asked' },
    access: { open: 'which partition is to be asked' },
  },
  list: { kind: 'read', trail: 'entry', refusal: 'first', gather: 'own', governed: 'reads', access: 'viewer' },
  edges: { kind: 'read', trail: 'entry', refusal: 'first', gather: 'merged', governed: 'reads', access: 'viewer' },
  fetch: { kind: 'read', trail: 'nothing', refusal: 'each', gather: 'own', governed: 'reads', access: 'viewer' },
  supersede: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: 'writes',
    access: 'editor',
  },
  accumulate: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: 'writes',
    access: 'editor',
  },
  history: { kind: 'read', trail: 'entry', refusal: 'each', gather: 'holder', governed: 'reads', access: 'viewer' },
  namespaces: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'names of places' },
    access: 'viewer',
  },
  knownFacts: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'never',
    governed: { nothing: 'asked within the deployment, for an add, which is refused' },
    access: { open: 'asked within the deployment, for an add, which is refused' },
  },
  exportPage: { kind: 'long', changes: 'nothing', gather: 'own', governed: 'reads', refusal: 'none', access: 'viewer' },
} as const satisfies RowsOf<GrainCalls>;
