// Goals that a read found to have expired. Housekeeping records their new states soon after.
import { DUE_GOALS_MAX } from '../base/limits.ts';
import type { CallContext } from '../calls/context.ts';
import type { Ordinal } from '../index/parts/part.ts';

export interface DueOfMemory {
  readonly memory: number;
  readonly partition: number;
  readonly ordinals: ReadonlySet<Ordinal>;
}

export class DueGoals {
  #found = new Map<number, DueOfMemory & { readonly ordinals: Set<Ordinal> }>();
  #count = 0;

  /** Beyond the maximum nothing is noted: the retention sweep finds all. */
  note({ memory, partition }: Pick<CallContext, 'memory' | 'partition'>, ordinal: Ordinal): void {
    if (this.#count >= DUE_GOALS_MAX) return;
    const found = this.#found.get(memory) ?? { memory, partition, ordinals: new Set() };
    this.#found.set(memory, found);
    if (found.ordinals.has(ordinal)) return;
    found.ordinals.add(ordinal);
    this.#count += 1;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Everything that was noted since the last call. */
  take(): readonly DueOfMemory[] {
    const found = [...this.#found.values()];
    this.#found = new Map();
    this.#count = 0;
    return found;
  }
}
