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
  /** Labels, most important first. If empty, the order of FROM applies. */
  readonly priority: readonly string[];
  /** Defaults to 4000 tokens (D-42). */
  readonly budget?: Budget | undefined;
  /** Each rendering keeps to the budget. Defaults to SML (D-29). */
  readonly renderings?: readonly Rendering[] | undefined;
  readonly dedupField?: string | undefined;
  readonly level: Level;
  /** True with `progressive_disclosure`: grains that do not fit may be shown as summaries. */
  readonly squeezes?: boolean | undefined;
  readonly isoTimestamps?: boolean | undefined;
  readonly summarizes?: boolean | undefined;
  /** True if the query chose no format and the server may choose TOON when the budget is short. */
  readonly autoToon?: boolean | undefined;
  readonly nowMs: number;
  readonly counter?: TokenCounter | undefined;
  /** See `Setting.step`. */
  readonly step?: (() => void) | undefined;
}

export interface Budget {
  readonly value: number;
  readonly unit: 'tokens' | 'grains';
}
