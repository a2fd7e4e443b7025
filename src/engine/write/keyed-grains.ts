// The grains that a group adds under the same keys. Their hashes are enciphered together, and their blobs sealed together,
// when the group is closed.
import type { KeyObject } from 'node:crypto';
import { type KeyedToSeal, SEAL_BYTES } from '../crypto/envelope.ts';
import { HASH_BYTES, type TrailCipher } from '../crypto/trail-cipher.ts';
import type { Ordinal } from '../index/parts/part.ts';
import { GRAIN_BOUND_AT, GRAIN_SEALED_AT, startGrainRecord } from '../record/grain-head.ts';
import { grainName, type NameKeys } from '../record/grain-name.ts';
import type { Memory } from '../store/memory.ts';
import type { PreparedGrain } from './prepare.ts';

/** A grain that a group grants. */
export class PlannedGrain {
  readonly ordinal: Ordinal;
  readonly prepared: PreparedGrain;
  readonly under: KeyedGrains;
  #name: string | undefined;

  constructor(ordinal: Ordinal, prepared: PreparedGrain, under: KeyedGrains) {
    this.ordinal = ordinal;
    this.prepared = prepared;
    this.under = under;
  }

  /** The grain's name in the trail. Before the group is closed, its hash is enciphered alone. */
  get name(): string {
    this.#name ??= this.under.nameOf(this.under.cipher.encipher(this.prepared.address));
    return this.#name;
  }

  named(enciphered: Uint8Array): void {
    this.#name ??= this.under.nameOf(enciphered);
  }
}

export class KeyedGrains {
  readonly memory: Memory;
  readonly cipher: TrailCipher;
  /** The user's key, or the memory's. */
  readonly #key: number;
  readonly #keys: NameKeys;
  readonly #grainKey: KeyObject;
  readonly #planned: PlannedGrain[] = [];
  readonly #records: Buffer[] = [];

  /** `key` and `scopeKey` are ids; `isUsers`: the first is a user's. */
  constructor(memory: Memory, key: number, scopeKey: number, isUsers: boolean) {
    this.memory = memory;
    this.#key = key;
    this.#keys = { user: isUsers ? key : 0, scope: scopeKey };
    this.cipher = memory.trail.cipher(this.#keys);
    this.#grainKey = memory.grainKey(key, scopeKey);
  }

  /** The record of a grain, without its enciphered hash and sealed bytes. `add` then takes it. */
  recordOf({ blob }: PreparedGrain): Buffer {
    const { user, scope } = this.#keys;
    const head = { memory: this.memory.number, key: this.#key, scopeKey: scope, userKey: user };
    return startGrainRecord(head, blob.length + SEAL_BYTES);
  }

  add(planned: PlannedGrain, record: Buffer): void {
    this.#planned.push(planned);
    this.#records.push(record);
  }

  nameOf(enciphered: Uint8Array): string {
    return grainName({ keys: this.#keys, enciphered });
  }

  /** Names the grains and binds each record to its enciphered hash. Adds their blobs to `toSeal`. */
  close(toSeal: KeyedToSeal[]): void {
    const planned = this.#planned;
    const all = this.cipher.encipherAll(planned.map(({ prepared }) => prepared.address));
    for (let i = 0; i < planned.length; i++) {
      const grain = planned[i]!;
      const into = this.#records[i]!;
      const enciphered = all.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES);
      grain.named(enciphered);
      into.set(enciphered, GRAIN_BOUND_AT);
      toSeal.push({
        key: this.#grainKey,
        into,
        additionalAt: GRAIN_BOUND_AT,
        at: GRAIN_SEALED_AT,
        body: grain.prepared.blob,
      });
    }
  }
}
