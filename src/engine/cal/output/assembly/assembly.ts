// The input of an assembly: sources, their budget and their rendering.

import type { Rendering } from '../formats/choice.ts';
import type { Level } from '../projection.ts';
import type { TokenCounter } from '../tokens.ts';
import type { Source } from './ranking.ts';

export interface Assembly {
  readonly name?: string | undefined;
  readonly intent?: string | undefined;
  /** In the order of FROM. */
  readonly sources: readonly Source[];
  /** Labels; empty: as in FROM. */
  readonly priority: readonly string[];
  /** D-42: absent, 4000 tokens. */
  readonly budget?: Budget | undefined;
  /** Each of several keeps to the budget. D-29: absent, SML. */
  readonly renderings?: readonly Rendering[] | undefined;
  readonly dedupField?: string | undefined;
  readonly level: Level;
  /** True when `progressive_disclosure` was asked for: what finds no room may be shown as a summary. */
  readonly squeezes?: boolean | undefined;
  readonly isoTimestamps?: boolean | undefined;
  readonly summarizes?: boolean | undefined;
  /** True where no format was chosen and the server may choose TOON when room is short. */
  readonly autoToon?: boolean | undefined;
  readonly nowMs: number;
  readonly counter?: TokenCounter | undefined;
  /** As that of a setting. */
  readonly step?: (() => void) | undefined;
}

export interface Budget {
  readonly value: number;
  readonly unit: 'tokens' | 'grains';
}
