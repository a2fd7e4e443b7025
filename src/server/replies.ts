// Idempotency of changes of the deployment (memories, keys): an answer is kept in the control store and given again.
// Changes of a memory keep theirs in the memory's own shard.
import type { Clock } from '../engine/base/clock.ts';
import { EngineError } from '../engine/base/errors.ts';
import { CONTROL_REPLIES_MAX, IDEMPOTENCY_KEEP_MS } from '../engine/base/limits.ts';
import type { JsonValue } from '../shards/protocol.ts';
import type { ReplyRecord } from './control/records.ts';
import type { ControlStore } from './control/store.ts';

interface Claim {
  readonly key: string;
  readonly bodyHash: string;
}

export class ReplyCache {
  readonly #store: ControlStore;
  readonly #clock: Clock;
  /** Claims whose first call still runs. Bounded by the requests that run. */
  readonly #running = new Map<string, { readonly bodyHash: string; readonly output: Promise<unknown> }>();

  constructor(store: ControlStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Runs `work` once a claim: a second call with the same body gets the first one's output, without the members that
   * are shown once; with another body it throws VAL-E005. An output is kept 24 hours; a failure is not kept.
   */
  async once(claim: Claim, shownOnce: readonly string[], work: () => Promise<unknown>): Promise<unknown> {
    const kept = this.#kept(claim.key);
    if (kept !== undefined) {
      sameBody(claim, kept.bodyHash);
      return kept.value;
    }
    const running = this.#running.get(claim.key);
    if (running !== undefined) {
      sameBody(claim, running.bodyHash);
      return without(await running.output, shownOnce);
    }
    const output = this.#runAndKeep(claim, shownOnce, work);
    this.#running.set(claim.key, { bodyHash: claim.bodyHash, output });
    try {
      return await output;
    } finally {
      this.#running.delete(claim.key);
    }
  }

  #kept(key: string): ReplyRecord | undefined {
    const kept = this.#store.get('reply', key);
    return kept !== undefined && kept.atMs + IDEMPOTENCY_KEEP_MS > this.#clock.nowMs() ? kept : undefined;
  }

  async #runAndKeep(claim: Claim, shownOnce: readonly string[], work: () => Promise<unknown>): Promise<unknown> {
    const output = await work();
    const value = JSON.parse(JSON.stringify(without(output, shownOnce))) as JsonValue; // just made of JSON
    await this.#store.commit((change) => {
      for (const id of this.#stale()) change.remove('reply', id);
      change.put('reply', { id: claim.key, bodyHash: claim.bodyHash, atMs: this.#clock.nowMs(), value });
    });
    return output;
  }

  /** Answers too old, and the oldest ones when there are too many; the store keeps them in the order they came. */
  #stale(): string[] {
    const stale: string[] = [];
    const oldest = this.#clock.nowMs() - IDEMPOTENCY_KEEP_MS;
    let over = this.#store.count('reply') + 1 - CONTROL_REPLIES_MAX;
    for (const reply of this.#store.values('reply')) {
      if (reply.atMs > oldest && over <= 0) break;
      stale.push(reply.id);
      over -= 1;
    }
    return stale;
  }
}

function sameBody(claim: Claim, bodyHash: string): void {
  if (claim.bodyHash !== bodyHash) throw new EngineError('VAL-E005', 'idempotency key reused with another body');
}

function without(output: unknown, members: readonly string[]): unknown {
  if (members.length === 0 || typeof output !== 'object' || output === null) return output;
  return Object.fromEntries(Object.entries(output).filter(([name]) => !members.includes(name)));
}
