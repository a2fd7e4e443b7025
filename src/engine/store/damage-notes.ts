// Memories whose index contradicts the log or the keys, and why. Each is noted in the log's state too, so that a restart
// knows it. A rebuild removes the note.
import type { Log } from '../log/log.ts';
import { DAMAGE_PREFIX, damageState } from './state-names.ts';

type StateEntries = readonly (readonly [key: string, value: Uint8Array])[];

export class DamageNotes {
  readonly #reasons = new Map<number, string>();
  /** Memories whose note is in the state. */
  readonly #noted = new Set<number>();
  readonly #holds: (memory: number) => boolean;

  constructor(log: Log, holds: (memory: number) => boolean) {
    this.#holds = holds;
    for (const [key, reason] of log.scanState(DAMAGE_PREFIX)) {
      const memory = Number(key.slice(DAMAGE_PREFIX.length));
      if (!holds(memory)) continue;
      this.#reasons.set(memory, Buffer.from(reason).toString());
      this.#noted.add(memory);
    }
  }

  get size(): number {
    return this.#reasons.size;
  }

  has(memory: number): boolean {
    return this.#reasons.has(memory);
  }

  reason(memory: number): string | undefined {
    return this.#reasons.get(memory);
  }

  memories(): IterableIterator<number> {
    return this.#reasons.keys();
  }

  /** Marks the memory's index as contradicting the log or the keys, so that it is rebuilt. */
  note(memory: number, reason: string): void {
    if (!this.#reasons.has(memory)) this.#reasons.set(memory, reason);
  }

  /** Forgets a dropped memory. Its entry in the state goes with the memory. */
  drop(memory: number): void {
    this.#reasons.delete(memory);
  }

  /** State entries for the memories marked since the last committed call. */
  states(): StateEntries {
    const entries: (readonly [string, Uint8Array])[] = [];
    for (const [memory, reason] of this.#reasons)
      if (!this.#noted.has(memory) && this.#holds(memory)) entries.push([damageState(memory), Buffer.from(reason)]);
    return entries;
  }

  /** Called after a transaction that contained `entries` of `states`. */
  committed(entries: StateEntries): void {
    for (const [key] of entries) this.#noted.add(Number(key.slice(DAMAGE_PREFIX.length)));
  }

  /** Called after a rebuild whose transaction removed the notes of `memories`. */
  repaired(memories: readonly number[]): void {
    for (const memory of memories) {
      this.#reasons.delete(memory);
      this.#noted.delete(memory);
    }
  }
}
