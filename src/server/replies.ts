// Idempotency for changes of the deployment (memories, keys): the control store keeps answers and returns them again.
// For changes of a memory its own shard keeps them.
import type { Clock } from '../engine/base/clock.ts';
import { EngineError } from '../engine/base/errors.ts';
import { CONTROL_REPLIES_MAX, IDEMPOTENCY_KEEP_MS } from '../engine/base/limits.ts';
import type { JsonValue } from '../shards/protocol.ts';
import type { Change } from './control/group.ts';
import type { ControlChanges } from './control/reading.ts';
import type { Entities, EntityKind, ReplyRecord } from './control/records.ts';

interface Claim {
  readonly key: string;
  readonly bodyHash: string;
}

/**
 * The first change that a call makes in the control log. It is kept in the transaction of the change: the answer is kept later, and
 * the process may end between the two.
 */
export interface FirstChange {
  /** Kept by an earlier run of this call that did not come to its answer: the change is not to be made again. */
  readonly made: JsonValue | undefined;
  /** Call it in the transaction of the change, with what a repeat needs to continue. */
  readonly keep: (change: Change, made: JsonValue) => void;
}

/** The entity that an earlier run made; undefined when there is none, or no longer. */
export function madeBefore<K extends EntityKind>(
  control: Pick<ControlChanges, 'get'>,
  kind: K,
  { made }: FirstChange,
): Entities[K] | undefined {
  return typeof made === 'string' ? control.get(kind, made) : undefined;
}

/** For calls without an idempotency key. */
export const UNKEPT: FirstChange = { made: undefined, keep: () => undefined };

export class ReplyCache {
  readonly #store: ControlChanges;
  readonly #clock: Clock;
  /** Claims whose first call still runs; bounded by the running requests. */
  readonly #running = new Map<string, { readonly bodyHash: string; readonly output: Promise<unknown> }>();

  constructor(store: ControlChanges, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Runs `work` once per claim. A repeat with the same body gets the first output, without members that are shown once;
   * with another body it throws VAL-E005. Outputs are kept for 24 hours; failures are not kept. Work that was interrupted after
   * its first change runs again, with what it made.
   */
  async once(
    claim: Claim,
    shownOnce: readonly string[],
    work: (first: FirstChange) => Promise<unknown>,
  ): Promise<unknown> {
    const kept = this.#kept(claim.key);
    if (kept !== undefined) sameBody(claim, kept.bodyHash);
    if (kept !== undefined && kept.isOpen !== true) return kept.value;
    const running = this.#running.get(claim.key);
    if (running !== undefined) {
      sameBody(claim, running.bodyHash);
      return without(await running.output, shownOnce);
    }
    const output = this.#runAndKeep(claim, shownOnce, () =>
      work({ made: kept?.value, keep: (change, made) => this.#put(change, claim, { value: made, isOpen: true }) }),
    );
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
    await this.#store.commit((change) => this.#put(change, claim, { value }));
    return output;
  }

  #put(change: Change, claim: Claim, kept: Pick<ReplyRecord, 'value' | 'isOpen'>): void {
    for (const id of this.#stale()) change.remove('reply', id);
    change.put('reply', { id: claim.key, bodyHash: claim.bodyHash, atMs: this.#clock.nowMs(), ...kept });
  }

  /** Expired answers, and the oldest ones over the limit; the store keeps them in order of arrival. */
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
