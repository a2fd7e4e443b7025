// Keys of single records of the control log. A record that names a person has its own key in `keys/control`; deleting
// the record destroys the key. Then no version of the record can be opened: neither replaced ones, whose bytes stay in
// the log's free pages for a while, nor those in earlier copies.
import type { KeyObject } from 'node:crypto';
import { EngineError } from '../../engine/base/errors.ts';
import { deriveGrainKey } from '../../engine/crypto/derive.ts';
import { sealKey } from '../../engine/crypto/envelope.ts';
import type { Buckets, SlotChange } from '../../engine/keys/buckets.ts';
import { KeyStore } from '../../engine/keys/key-store.ts';
import type { MasterKey } from '../../engine/keys/master-key.ts';

const STORE = 'control';

export class RecordKeys {
  readonly #keys: KeyStore;
  readonly #controlKey: Buffer;
  /** Where the keys are, for messages. */
  readonly #place: string;

  /** Opens the keys in a folder, which is created if absent, or in buckets. Throws like `KeyStore.open`. */
  constructor(place: string | Buckets, master: MasterKey, controlKey: KeyObject) {
    const isFolder = typeof place === 'string';
    this.#keys = isFolder ? KeyStore.open(place, master, { name: STORE }) : KeyStore.over(place, master);
    this.#controlKey = controlKey.export();
    this.#place = isFolder ? place : `the keys of ${place.name}`;
  }

  /** Returns the id of a new key, which is durable after `flush`. */
  make(): number {
    const { id, key } = this.#keys.allocate('user');
    key.fill(0);
    return id;
  }

  flush(): void {
    this.#keys.flush();
  }

  /** As of a key store: slots for the next append, with tombstones of `ids`, where the log keeps them. */
  slotsToAppend(ids: readonly number[], nowMs: number): readonly SlotChange[] | undefined {
    return this.#keys.slotsToAppend(ids, nowMs);
  }

  slotsAppended(slots: readonly SlotChange[]): void {
    this.#keys.slotsAppended(slots);
  }

  get slotsWaiting(): number {
    return this.#keys.slotsWaiting;
  }

  isDestroyed(id: number): boolean {
    return this.#keys.state(id) === 'destroyed';
  }

  /** The key also depends on the control key. CRY-E002 when it was destroyed, STO-E001 when it is missing. */
  get(id: number): KeyObject {
    const key = this.#read(id);
    const derived = sealKey(deriveGrainKey(key, this.#controlKey));
    key.fill(0);
    return derived;
  }

  #read(id: number): Buffer {
    try {
      return this.#keys.get(id);
    } catch (error) {
      if (!(error instanceof EngineError) || error.code === 'CRY-E002') throw error;
      throw new EngineError('STO-E001', `${this.#place}: ${error.message}`);
    }
  }

  destroy(ids: readonly number[], nowMs: number): void {
    if (ids.length > 0) this.#keys.destroy(ids, nowMs);
  }

  /** Destroys keys that no record needs: a crash came between deleting their records and destroying them. */
  destroyOthers(needed: ReadonlySet<number>, nowMs: number): void {
    const others: number[] = [];
    for (let id = 1; id < this.#keys.nextId; id++)
      if (!needed.has(id) && this.#keys.state(id) === 'live') others.push(id);
    this.destroy(others, nowMs);
  }

  /** Wraps the keys under `next`'s current master key. Returns how many were wrapped again. */
  rewrap(next: MasterKey): number {
    return this.#keys.rewrap(next);
  }

  copyTo(directory: string): void {
    this.#keys.copyTo(directory);
  }

  close(): void {
    this.#keys.close();
  }
}
