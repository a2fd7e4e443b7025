// The interface of scenarios.
import type { ServerOptions, Target } from './server.ts';

/** Aims apply to `full`; `quick` takes a tenth of the time; `smoke` only shows that the scenario works. */
export type Size = 'full' | 'quick' | 'smoke';

export interface Options {
  readonly size: Size;
  /** Folder for CPU profiles of the started servers. */
  readonly profile?: string | undefined;
  /** Starts a server; default `startServer`. Smoke runs share a few servers between scenarios, and run others in process. */
  readonly start?: (options: ServerOptions) => Promise<Target>;
}

/** Target of a metric at full size. Printed with the value; missing it does not fail the run. */
export interface Aim {
  readonly metric: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Measured {
  readonly parameters: Readonly<Record<string, number | string>>;
  /** In printing order. Names end in their unit; those that end in `_ratio` have none. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** The scenario could not run: what is missing, and how to get it. */
export interface Skipped {
  readonly skipped: string;
}

export interface Scenario {
  /** Name on the command line, and of its file. */
  readonly name: string;
  /** One line for the list. */
  readonly about: string;
  /** Its claims; empty for a scenario that only shows where the time goes. */
  readonly aims: readonly Aim[];
  run(options: Options): Promise<Measured | Skipped>;
}

/** Workers and shards of a server on two cores. A smoke run starts many servers, so it uses the fewest threads. */
export function serverSize(size: Size): { readonly workers: number; readonly shards: number } {
  return size === 'smoke' ? { workers: 1, shards: 2 } : { workers: 2, shards: 8 };
}

/** The value for this size. */
export function sized<T>(size: Size, values: Readonly<Record<Size, T>>): T {
  return values[size];
}

export function isMet(aim: Aim, value: number): boolean {
  return (aim.atLeast === undefined || value >= aim.atLeast) && (aim.atMost === undefined || value <= aim.atMost);
}
