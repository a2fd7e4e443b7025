// Runs several computations in parallel: asks the next questions of all of them together.
import type { Question, Settled } from '../../asking/asking.ts';
import type { CalQuestion } from '../../asking/questions.ts';
import { assert } from '../../base/assert.ts';
import type { Running } from './running.ts';

export type Ended<T> = { readonly value: T } | { readonly error: unknown };

interface Branch<T> {
  readonly run: Running<T>;
  ended: Ended<T> | undefined;
  questions: readonly Question<CalQuestion>[];
}

/** The result or error of each of `runs`, in order. A failed run does not stop the others. */
export function* together<T>(runs: readonly Running<T>[]): Running<Ended<T>[]> {
  const branches = runs.map((run): Branch<T> => ({ run, ended: undefined, questions: [] }));
  for (const branch of branches) step(branch, []);
  for (;;) {
    const waiting = branches.filter((branch) => branch.ended === undefined);
    if (waiting.length === 0) break;
    const settled = yield waiting.flatMap((branch) => branch.questions);
    let at = 0;
    for (const branch of waiting) {
      const end = at + branch.questions.length;
      step(branch, settled.slice(at, end));
      at = end;
    }
  }
  return branches.map(({ ended }) => {
    assert(ended !== undefined, 'every run has ended');
    return ended;
  });
}

/** Resumes a run with the answers to what it asked. */
function step<T>(branch: Branch<T>, settled: readonly Settled[]): void {
  try {
    const result = branch.run.next(settled);
    if (result.done === true) branch.ended = { value: result.value };
    else branch.questions = result.value;
  } catch (error) {
    branch.ended = { error };
  }
}
