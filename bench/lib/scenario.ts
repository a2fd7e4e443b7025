// What a scenario is, and what it gives back.
import type { ServerOptions, Target } from './server.ts';

/** `full` is what aims speak of; `quick` takes a tenth of the time; `smoke` only shows that the scenario works. */
export type Size = 'full' | 'quick' | 'smoke';

export interface Options {
  readonly size: Size;
  /** A folder that takes the CPU profiles of servers that are started. */
  readonly profile?: string | undefined;
  /** Starts the server that is asked for; without it `startServer` does. Smoke runs share a few between scenarios. */
  readonly start?: (options: ServerOptions) => Promise<Target>;
}

/** What a metric should reach at full size. Printed beside the value; nothing fails by it. */
export interface Aim {
  readonly metric: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Measured {
  readonly parameters: Readonly<Record<string, number | string>>;
  /** In the order they are printed. Names end in their unit; what ends in `_ratio` has none. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** It could not run here: what is missing, and how to get it. */
export interface Skipped {
  readonly skipped: string;
}

export interface Scenario {
  /** As the command line says it, and its file. */
  readonly name: string;
  /** One line for the list. */
  readonly about: string;
  /** What it claims; empty where it only tells where the time goes. */
  readonly aims: readonly Aim[];
  run(options: Options): Promise<Measured | Skipped>;
}

/** Workers and shards of a server for two cores; a smoke run starts many servers, and the fewest threads start soonest. */
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
