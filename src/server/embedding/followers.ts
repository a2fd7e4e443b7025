// One follower per embedder in use, so that a slow or broken one delays only its own memories.

import type { Logger } from '../log.ts';
import { VECTOR_BACKENDS, type VectorBackend } from './backends.ts';
import type { Backlog } from './backlog.ts';
import type { Embedders } from './embedders.ts';
import { Follower } from './follower.ts';
import type { WindowCache } from './window-cache.ts';

export interface FollowersOptions {
  /** One per shard. */
  readonly backlogs: readonly Backlog[];
  readonly embedders: Pick<Embedders, 'of' | 'namesOf'>;
  /**
   * The backends now, configured or not: an administrator may configure one, and change the default. Absent: those that
   * name no model.
   */
  readonly backends?: (() => readonly VectorBackend[]) | undefined;
  /** Whether a memory has this `vector_backend`; unused embedders are not opened. */
  readonly isChosen: (backend: string) => boolean;
  /** Whether texts of the memory may be sent to the embedding service. */
  readonly mayLeave: (memory: number) => boolean;
  /** Vectors of windows that repeat. */
  readonly windows?: Pick<WindowCache, 'over'> | undefined;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  /** Called when vectors were stored, or when nothing is pending. */
  readonly progressed?: (() => void) | undefined;
}

export class Followers {
  readonly #options: FollowersOptions;
  readonly #byBackend = new Map<string, Follower>();
  #isStarted = false;

  constructor(options: FollowersOptions) {
    this.#options = options;
    this.follow();
  }

  /** Adds followers of backends that are new. One that is no longer used finds nothing to do. */
  follow(): void {
    const { backends = () => VECTOR_BACKENDS } = this.#options;
    for (const backend of backends()) {
      if (backend === 'none' || this.#byBackend.has(backend)) continue;
      const follower = this.#followerOf(backend);
      this.#byBackend.set(backend, follower);
      if (this.#isStarted) follower.start();
    }
  }

  #followerOf(backend: VectorBackend): Follower {
    const { backlogs, embedders, isChosen, mayLeave, windows, log, progressed } = this.#options;
    return new Follower({
      backlogs,
      backends: () => embedders.namesOf(backend),
      embedder: () => (embedders.namesOf(backend).some(isChosen) ? embedders.of(backend) : undefined),
      mayEmbed: backend === 'remote' ? mayLeave : undefined,
      windows,
      log,
      progressed,
    });
  }

  get #followers(): readonly Follower[] {
    return [...this.#byBackend.values()];
  }

  /** Grains embedded since the start. */
  get embedded(): number {
    return this.#followers.reduce((sum, { embedded }) => sum + embedded, 0);
  }

  /** Grains since the start that could not be embedded. */
  get passedOver(): number {
    return this.#followers.reduce((sum, { passedOver }) => sum + passedOver, 0);
  }

  /** Milliseconds since every text had its vectors; 0 if all have them. */
  get behindMs(): number {
    return Math.max(0, ...this.#followers.map(({ behindMs }) => behindMs));
  }

  start(): void {
    this.#isStarted = true;
    for (const follower of this.#followers) follower.start();
  }

  /** A read waits: end the followers' pauses. */
  wake(): void {
    for (const follower of this.#followers) follower.wake();
  }

  /** Resolves when nothing runs. */
  async close(): Promise<void> {
    await Promise.all(this.#followers.map((follower) => follower.close()));
  }
}
