// A cross-encoder of the operator, in a thread of its own like the encoders.
import { type BuiltinEmbedder, type BuiltinOptions, openBuiltinEmbedder } from '../builtin/builtin.ts';
import { pairOf } from './pair.ts';

export class OnnxReranker {
  readonly #thread: BuiltinEmbedder;

  constructor(folder: string, { runtime, log }: Pick<BuiltinOptions, 'runtime' | 'log'> = {}) {
    const thread = new URL(import.meta.url.endsWith('.ts') ? './pair-thread.ts' : './pair-thread.js', import.meta.url);
    this.#thread = openBuiltinEmbedder({ runtime, log, queriesOnly: true, thread, threadData: { folder } });
  }

  /** Loads the model unless it is loaded. Rejects with EmbedError. */
  load(): Promise<void> {
    return this.#thread.load();
  }

  /**
   * How well each passage answers the question, in the order of the passages; undefined for those that were not scored in
   * time. Rejects with EmbedError if no passage was scored because of a failure.
   */
  async score(question: string, passages: readonly string[], timeoutMs: number): Promise<(number | undefined)[]> {
    const signal = AbortSignal.timeout(Math.max(1, timeoutMs));
    const scores = await Promise.allSettled(
      passages.map(async (passage) => {
        const [score] = await this.#thread.embed([pairOf(question, passage)], { priority: 'query', signal });
        return score?.[0];
      }),
    );
    const failure = scores.find((one) => one.status === 'rejected');
    if (failure !== undefined && !signal.aborted && scores.every((one) => one.status === 'rejected'))
      throw failure.reason;
    return scores.map((one) => (one.status === 'fulfilled' ? one.value : undefined));
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
