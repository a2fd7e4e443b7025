// The state of a running query that its text cannot change: the caller, the limits, and prepared data.
import type { CalSession, QueryVector } from '../../calls/cal.ts';
import type { CalGrain } from '../output/grain.ts';
import type { ExtensionName } from '../vocabulary/extensions.ts';
import type { Outcome } from './stages.ts';

export const PLAIN_SESSION: CalSession = {
  tier: 0,
  tierOneEnabled: false,
  mayDefine: false,
  templates: {},
  server: { name: 'granary', version: '0' },
  autoToon: false,
  queryTimeoutMs: 5_000,
  assembleTimeoutMs: 10_000,
};

/** The value of a LET. */
export type Bound =
  | { readonly kind: 'values'; readonly values: readonly string[] }
  | { readonly kind: 'grains'; readonly grains: readonly CalGrain[]; readonly about?: Outcome['about'] | undefined };

/** A running query. */
export interface Run {
  readonly session: CalSession;
  /** The query as received. */
  readonly source: string;
  /** Hash of the query, trimmed. */
  readonly sourceHash: string;
  /** The binding: nothing outside it exists for this query. */
  readonly namespace: string | undefined;
  readonly userId: string | undefined;
  /** The current time for all time expressions in the query. */
  readonly nowMs: number;
  /** The deployment's clock, for deadlines. */
  readonly clockMs: () => number;
  readonly untilMs: number;
  readonly lets: ReadonlyMap<string, Bound>;
  /** The policy's cap on the grains of one recall; null: only the language's limit applies. */
  readonly recallMax: number | null;
  /** Vectors of search texts, by text. */
  readonly vectors: ReadonlyMap<string, QueryVector>;
  /** The extensions that the query uses. */
  readonly extensions: readonly ExtensionName[];
  /** Shared by all parts of the query. */
  readonly spent: Spent;
}

export interface Spent {
  /** Number of grains opened. */
  scanned: number;
  /** Bytes of the grains that reads have returned. */
  heldBytes: number;
  readonly warnings: string[];
  /** Texts searched by words only, because there was no vector. */
  readonly withoutVector: Set<string>;
}
