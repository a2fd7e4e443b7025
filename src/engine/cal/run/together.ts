// Several runs side by side: what all of them ask next is asked at once.
import { assert } from '../../base/assert.ts';
import type { CalAnswer, Running, Settled, SingleAsk } from './asks.ts';

export type Ended<T> = { readonly value: T } | { readonly error: unknown };

interface Lane<T> {
  readonly run: Running<T>;
  ended: Ended<T> | undefined;
  asks: readonly SingleAsk[];
  /** True where it asks several itself. */
  isMany: boolean;
}

/** How each of `runs` ended, in their order. None of them stops the others. */
export function* together<T>(runs: readonly Running<T>[]): Running<Ended<T>[]> {
  const lanes = runs.map((run): Lane<T> => ({ run, ended: undefined, asks: [], isMany: false }));
  for (const lane of lanes) step(lane, () => lane.run.next());
  for (;;) {
    const waiting = lanes.filter((lane) => lane.ended === undefined);
    if (waiting.length === 0) break;
    const answer = yield { kind: 'several', asks: waiting.flatMap((lane) => lane.asks) };
    assert(answer.kind === 'several', 'several questions have several answers');
    let at = 0;
    for (const lane of waiting) {
      const settled = answer.settled.slice(at, at + lane.asks.length);
      at += lane.asks.length;
      step(lane, () => advance(lane, settled));
    }
  }
  return lanes.map(({ ended }) => {
    assert(ended !== undefined, 'every run has ended');
    return ended;
  });
}

function advance<T>(lane: Lane<T>, settled: readonly Settled[]): IteratorResult<unknown, T> {
  if (lane.isMany) return lane.run.next({ kind: 'several', settled });
  const [only] = settled;
  assert(only !== undefined, 'a question has an answer');
  if ('error' in only) return lane.run.throw(only.error);
  return lane.run.next(only.answer satisfies CalAnswer);
}

function step<T>(lane: Lane<T>, go: () => IteratorResult<unknown, T>): void {
  try {
    const result = go();
    if (result.done === true) {
      lane.ended = { value: result.value };
      return;
    }
    const asked = result.value as { readonly kind: string }; // A running query yields its asks alone.
    lane.isMany = asked.kind === 'several';
    lane.asks = lane.isMany
      ? (asked as { readonly kind: 'several'; readonly asks: readonly SingleAsk[] }).asks
      : [asked as SingleAsk];
  } catch (error) {
    lane.ended = { error };
  }
}
