// Runs the steps of a seed, reports the failure, and reduces a failing run to the relevant steps.

import { Random } from '../support/random.ts';
import { checkWorld } from './check.ts';
import { runStep } from './steps.ts';
import { type Counts, World, type WorldOptions } from './world.ts';

export interface Failure {
  /** Index of the failed step among the executed ones. */
  readonly at: number;
  readonly error: unknown;
  readonly trace: readonly string[];
}

export interface Result {
  readonly failure: Failure | undefined;
  readonly counts: Counts;
}

/** Number of steps between two full comparisons. */
const CHECK_EVERY = 25;

export function stepsOf(seed: number, count: number): number[] {
  const random = new Random(seed ^ 0x9e3779b9);
  return Array.from({ length: count }, () => random.u32());
}

export async function run(options: WorldOptions, steps: readonly number[]): Promise<Result> {
  const world = await World.open(options);
  const { counts } = world;
  let at = 0;
  try {
    for (; at < steps.length; at++) {
      await runStep(world, steps[at]!);
      if ((at + 1) % CHECK_EVERY === 0) await checkWorld(world);
    }
    await checkWorld(world);
    return { failure: undefined, counts };
  } catch (error) {
    return { failure: { at: Math.min(at, steps.length - 1), error, trace: world.trace }, counts };
  } finally {
    await world.node.end();
  }
}

/** Removes steps that the failure does not need: shorter and shorter stretches, for at most `triesMax` runs. */
export async function shrink(options: WorldOptions, all: readonly number[], failure: Failure, triesMax: number) {
  let steps = all.slice(0, failure.at + 1);
  let smallest = failure;
  let tries = 0;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < steps.length && tries < triesMax; ) {
      const fewer = [...steps.slice(0, from), ...steps.slice(from + size)];
      tries += 1;
      const { failure: failed } = await run(options, fewer);
      if (failed === undefined) from += size;
      else {
        steps = fewer.slice(0, failed.at + 1);
        smallest = failed;
      }
    }
  }
  return { steps, failure: smallest, tries };
}
