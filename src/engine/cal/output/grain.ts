// A grain as CAL sees it after a recall: what the filters left over test, what stages sort and group, what output shows.
import type { JsonObject } from '../../grain/api/json-value.ts';

export interface CalGrain {
  /** 64 lower-case hex digits, without `sha256:`. */
  readonly hash: string;
  /** Singular. A type that this version does not know is shown by its object or content. */
  readonly grainType: string;
  /** As answers show them: the service's names, answer defaults filled, times in seconds. */
  readonly fields: JsonObject;
  readonly createdAtMs: number;
  readonly namespace: string;
  readonly userId?: string;
  readonly score: number;
  readonly supersededBy?: string;
  /** Hashes of the live grains that it is in conflict with. */
  readonly contestedBy?: readonly string[];
  readonly scoreBreakdown?: JsonObject;
  readonly explanation?: string;
}
