// A recalled grain in CAL's form, for tests on opened grains, stages and output.
import type { JsonObject } from '../../grain/api/json-value.ts';

export interface CalGrain {
  /** 64 lower-case hex digits, without `sha256:`. */
  readonly hash: string;
  /** The singular. It can be a type that this version does not know. */
  readonly grainType: string;
  /** As in answers: the service's names, with default values, times in seconds. */
  readonly fields: JsonObject;
  /** The sentence of all its fields, where a worker made it: reading heavy fields costs the main thread much. */
  readonly text?: string;
  readonly createdAtMs: number;
  readonly namespace: string;
  readonly userId?: string;
  readonly score: number;
  readonly supersededBy?: string;
  /** Set for an old version whose next one is not shown. */
  readonly isSuperseded?: true;
  /** Hashes of the live grains that contradict it. */
  readonly contestedBy?: readonly string[];
  readonly scoreBreakdown?: JsonObject;
  readonly explanation?: string;
}
