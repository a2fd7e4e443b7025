// One follower for each embedder that memories have chosen: one that is slow or out of order holds up its own alone.

import type { Logger } from '../log.ts';
import type { Backlog } from './backlog.ts';
import type { Embedders } from './embedders.ts';
import { Follower } from './follower.ts';

export interface FollowersOptions {
  /** One a shard. */
  readonly backlogs: readonly Backlog[];
  readonly embedders: Pick<Embedders, 'of' | 'choices'>;
  /** Whether a memory has this `vector_backend`; an embedder that none has is not opened. */
  readonly isChosen: (backend: string) => boolean;
  /** Whether texts of the memory may be sent to the embedding service. */
  readonly mayLeave: (memory: number) => boolean;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  /** Told when one has given vectors back, or nothing waits for it. */
  readonly progressed?: () => void;
}

export class Followers {
  readonly #followers: readonly Follower[];

  constructor({ backlogs, embedders, isChosen, mayLeave, log, progressed }: FollowersOptions) {
    this.#followers = embedders.choices().map(
      (backends) =>
        new Follower({
          backlogs,
          backends,
          embedder: () => (backends.some(isChosen) ? embedders.of(backends[0] ?? '') : undefined),
          ...(backends.includes('remote') ? { mayEmbed: mayLeave } : {}),
          log,
          ...(progressed === undefined ? {} : { progressed }),
        }),
    );
  }

  /** Grains given vectors since the start. */
  get embedded(): number {
    return this.#followers.reduce((sum, { embedded }) => sum + embedded, 0);
  }

  /** Grains since the start that no attempt could embed. */
  get passedOver(): number {
    return this.#followers.reduce((sum, { passedOver }) => sum + passedOver, 0);
  }

  start(): void {
    for (const follower of this.#followers) follower.start();
  }

  /** Ends their rest: somebody waits. */
  wake(): void {
    for (const follower of this.#followers) follower.wake();
  }

  /** Resolves when nothing is under way. */
  async close(): Promise<void> {
    await Promise.all(this.#followers.map((follower) => follower.close()));
  }
}
