// What a scenario is, and what it gives back.

/** `full` is what aims speak of; `quick` takes a tenth of the time; `tiny` only shows that the scenario works. */
export type Size = 'full' | 'quick' | 'tiny';
export const SIZES: readonly Size[] = ['full', 'quick', 'tiny'];

/** What a metric should reach at full size. Printed beside the value; nothing fails by it. */
export interface Aim {
  readonly metric: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Measured {
  readonly parameters: Readonly<Record<string, number | string>>;
  /** Names end in their unit; what ends in `_ratio` has none. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly aims?: readonly Aim[];
}

/** It could not run here: what is missing, and how to get it. */
export interface Skipped {
  readonly skipped: string;
}

export interface Scenario {
  readonly name: string;
  /** One line for the list. */
  readonly about: string;
  run(size: Size): Promise<Measured | Skipped>;
}

/** The value for this size. */
export function sized<T>(size: Size, values: Readonly<Record<Size, T>>): T {
  return values[size];
}

export function isMet(aim: Aim, value: number): boolean {
  return (aim.atLeast === undefined || value >= aim.atLeast) && (aim.atMost === undefined || value <= aim.atMost);
}
