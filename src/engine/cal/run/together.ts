// Runs several computations in parallel: asks the next questions of all of them together.
import type { Question, Settled } from '../../asking/asking.ts';
import type { CalQuestion } from '../../asking/questions.ts';
import { assert } from '../../base/assert.ts';
import type { Running } from './asks.ts';

export type Ended<T> = { readonly value: T } | { readonly error: unknown };

interface Lane<T> {
  readonly run: Running<T>;
  ended: Ended<T> | undefined;
  questions: readonly Question<CalQuestion>[];
}

/** The result or error of each of `runs`, in order. A failed run does not stop the others. */
export function* together<T>(runs: readonly Running<T>[]): Running<Ended<T>[]> {
  const lanes = runs.map((run): Lane<T> => ({ run, ended: undefined, questions: [] }));
  for (const lane of lanes) step(lane, []);
  for (;;) {
    const waiting = lanes.filter((lane) => lane.ended === undefined);
    if (waiting.length === 0) break;
    const settled = yield waiting.flatMap((lane) => lane.questions);
    let at = 0;
    for (const lane of waiting) {
      const end = at + lane.questions.length;
      step(lane, settled.slice(at, end));
      at = end;
    }
  }
  return lanes.map(({ ended }) => {
    assert(ended !== undefined, 'every run has ended');
    return ended;
  });
}

/** Resumes a run with the answers to what it asked. */
function step<T>(lane: Lane<T>, settled: readonly Settled[]): void {
  try {
    const result = lane.run.next(settled);
    if (result.done === true) lane.ended = { value: result.value };
    else lane.questions = result.value;
  } catch (error) {
    lane.ended = { error };
  }
}
