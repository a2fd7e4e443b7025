// The two sides of a planned move of a shard, before the shard is closed: its owner seals it and brings it to the database, and the
// next owner fetches it from there. Calls go on meanwhile, so they wait only while the rest moves.
import { EngineError } from '../../engine/base/errors.ts';
import { MOVE_LOOK_MS, MOVE_SILENT_MS, MOVE_TELL_MS } from '../../engine/base/limits.ts';
import type { FleetNode } from '../../engine/log/postgres/fleet.ts';
import type { ShardSet } from '../transport/shard-set.ts';
import type { ShardNotice } from './link/notice.ts';

export interface MovesOptions {
  readonly set: Pick<ShardSet, 'isOpen' | 'fetch' | 'prepare'>;
  readonly tellNode: (node: FleetNode, notice: ShardNotice) => void;
  /** False when the shard is not to go to that node any more. */
  readonly isDue: (shard: number, to: string) => boolean;
}

interface Heard {
  readonly from: string;
  /** `fetch`: nothing yet. */
  readonly kind: ShardNotice['kind'];
  readonly atMs: number;
}

export class Moves {
  readonly #options: MovesOptions;
  /** Shards that this node fetches. */
  readonly #fetches = new Map<number, Promise<void>>();
  /** The newest word of the next owner, by shard. */
  readonly #heard = new Map<number, Heard>();
  #isOver = false;

  constructor(options: MovesOptions) {
    this.#options = options;
  }

  /** For a node that says how far it is with a shard of this one. */
  heard(from: string, { kind, shard }: ShardNotice): void {
    if (this.#heard.get(shard)?.from !== from) return;
    this.#heard.set(shard, { from, kind, atMs: performance.now() });
  }

  /** Fetches a shard of another node, and tells that node until it is over. */
  fetch(owner: FleetNode, shard: number): void {
    if (this.#fetches.has(shard) || this.#options.set.isOpen(shard) || this.#isOver) return;
    const { set, tellNode } = this.#options;
    const tell = (): void => tellNode(owner, { kind: 'fetching', shard });
    const timer = setInterval(tell, MOVE_TELL_MS);
    tell();
    const fetching = set
      .fetch(shard)
      // The rest is fetched when the shard is opened, which tells why it cannot be.
      .catch((error: unknown) => {
        if (!(error instanceof EngineError)) throw error;
      })
      .finally(() => {
        clearInterval(timer);
        this.#fetches.delete(shard);
        tellNode(owner, { kind: 'fetched', shard });
      });
    this.#fetches.set(shard, fetching);
  }

  /** Resolves when this node does not fetch the shard. */
  fetchOf(shard: number): Promise<void> {
    return this.#fetches.get(shard) ?? Promise.resolve();
  }

  /**
   * Prepares a shard of this node and lets the next owner fetch it. Resolves true when the shard may be closed: the next owner has it,
   * or says nothing for MOVE_SILENT_MS, as one of an older version does.
   */
  async prepared(next: FleetNode, shard: number): Promise<boolean> {
    const { set, tellNode, isDue } = this.#options;
    await this.#prepare(shard);
    this.#heard.set(shard, { from: next.id, kind: 'fetch', atMs: performance.now() });
    for (;;) {
      const { kind, atMs } = this.#heard.get(shard)!;
      const isLate = performance.now() - atMs > MOVE_SILENT_MS;
      if (kind === 'fetched' || isLate || this.#isOver || !isDue(shard, next.id)) break;
      // It is lost while the connection is being opened.
      if (kind === 'fetch') tellNode(next, { kind, shard });
      await new Promise((resolve) => setTimeout(resolve, MOVE_LOOK_MS));
    }
    this.#heard.delete(shard);
    // The changes that came meanwhile.
    if (!this.#isOver && set.isOpen(shard)) await this.#prepare(shard);
    return this.#isOver || isDue(shard, next.id);
  }

  /** Waits for fetches that go on. Later ones do not begin. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#fetches.values());
  }

  async #prepare(shard: number): Promise<void> {
    try {
      await this.#options.set.prepare(shard);
    } catch (error) {
      // A closing that follows takes longer.
      if (!(error instanceof EngineError)) throw error;
    }
  }
}
