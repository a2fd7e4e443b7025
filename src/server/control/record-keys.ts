// Keys of single records of the control log. A record that names a person lies under a key of its own in `keys/control`, beside the
// control key: when what it says is taken back, the key is destroyed. So no version of it can be opened again: not one that was
// replaced, whose bytes stay in the log's free pages for a while, nor one in a copy that was made before.
import type { KeyObject } from 'node:crypto';
import { EngineError } from '../../engine/base/errors.ts';
import { deriveGrainKey } from '../../engine/crypto/derive.ts';
import { sealKey } from '../../engine/crypto/envelope.ts';
import { KeyStore } from '../../engine/keys/key-store.ts';
import type { MasterKey } from '../../engine/keys/master-key.ts';

const STORE = 'control';

export class RecordKeys {
  readonly #keys: KeyStore;
  readonly #controlKey: Buffer;
  readonly #directory: string;

  /** Those in `directory`, made when it is not there. Throws as `KeyStore.open` does. */
  constructor(directory: string, master: MasterKey, controlKey: KeyObject) {
    this.#keys = KeyStore.open(directory, master, { name: STORE });
    this.#controlKey = controlKey.export();
    this.#directory = directory;
  }

  /** The id of a new key. It is on disk after `flush`. */
  make(): number {
    const { id, key } = this.#keys.allocate('user');
    key.fill(0);
    return id;
  }

  flush(): void {
    this.#keys.flush();
  }

  isDestroyed(id: number): boolean {
    return this.#keys.state(id) === 'destroyed';
  }

  /** Opens nothing without the control key either. CRY-E002 when it was destroyed, STO-E001 when it is missing. */
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
      throw new EngineError('STO-E001', `${this.#directory}: ${error.message}`);
    }
  }

  destroy(ids: readonly number[], nowMs: number): void {
    if (ids.length > 0) this.#keys.destroy(ids, nowMs);
  }

  /** Destroys keys that no record needs: those of records that a crash let go of before their keys went. */
  destroyOthers(needed: ReadonlySet<number>, nowMs: number): void {
    const others: number[] = [];
    for (let id = 1; id < this.#keys.nextId; id++)
      if (!needed.has(id) && this.#keys.state(id) === 'live') others.push(id);
    this.destroy(others, nowMs);
  }

  /** Wraps them under `next`'s current master key. Returns how many were wrapped anew. */
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
