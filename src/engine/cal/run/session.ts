// What a query runs under and no query text can change: who asks, how far it may go, and what is known beforehand.
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
  | { readonly kind: 'grains'; readonly grains: readonly CalGrain[]; readonly about?: NonNullable<Outcome['about']> };

/** A query under way. */
export interface Run {
  readonly session: CalSession;
  /** Of the query as it was sent, without its outer white space. */
  readonly sourceHash: string;
  /** Bound: nothing outside of it exists for this query. */
  readonly namespace: string | undefined;
  readonly userId: string | undefined;
  /** Now, in the sense of every expression of time in the query. */
  readonly nowMs: number;
  /** The deployment's clock, for deadlines. */
  readonly clockMs: () => number;
  readonly untilMs: number;
  readonly lets: ReadonlyMap<string, Bound>;
  /** Grains that one recall may give under the memory's policy; null: as many as the language lets it. */
  readonly recallMax: number | null;
  /** Vectors of search texts, by text. */
  readonly vectors: ReadonlyMap<string, QueryVector>;
  /** Those that the query uses. */
  readonly extensions: readonly ExtensionName[];
  /** Shared by all parts of the query. */
  readonly spent: Spent;
}

export interface Spent {
  /** Grains opened to look at. */
  scanned: number;
  readonly warnings: string[];
  /** Texts that were searched for by their words alone, for want of a vector. */
  readonly withoutVector: Set<string>;
}
