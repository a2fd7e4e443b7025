// The grains that a group adds under the same keys. Their hashes are enciphered together, and their blobs sealed together,
// when the group is closed.
import type { KeyObject } from 'node:crypto';
import { SEAL_BYTES, sealAll } from '../crypto/envelope.ts';
import { HASH_BYTES, type TrailCipher } from '../crypto/trail-cipher.ts';
import type { Ordinal } from '../index/parts/part.ts';
import { GRAIN_BOUND_AT, GRAIN_SEALED_AT, startGrainRecord } from '../record/grain-head.ts';
import { type NameKeys, namePrefix, writeName } from '../record/grain-name.ts';
import type { Memory } from '../store/memory.ts';
import type { PreparedGrain } from './prepare.ts';

/** A grain that a group grants. */
export class PlannedGrain {
  readonly ordinal: Ordinal;
  readonly prepared: PreparedGrain;
  readonly under: KeyedGrains;
  #name: string | undefined;
  /** Once the group is closed, its enciphered hash is at `#namedAt` of `#names`. */
  #names: Buffer | undefined;
  #namedAt = 0;

  constructor(ordinal: Ordinal, prepared: PreparedGrain, under: KeyedGrains) {
    this.ordinal = ordinal;
    this.prepared = prepared;
    this.under = under;
  }

  /** The grain's name in the trail. Before the group is closed, its hash is enciphered alone. */
  get name(): string {
    this.#name ??= this.under.prefix + this.#enciphered();
    return this.#name;
  }

  #enciphered(): string {
    if (this.#names !== undefined) return this.#names.toString('hex', this.#namedAt, this.#namedAt + HASH_BYTES);
    return this.under.cipher.encipher(this.prepared.address).toString('hex');
  }

  /** Writes the bytes of the name to `into` at `at`, and returns their end. */
  writeName(into: Buffer, at: number): number {
    if (this.#names === undefined) return at + into.write(this.name, at, 'hex');
    return writeName(into, at, { keys: this.under.keys, source: this.#names, from: this.#namedAt });
  }

  /** Its enciphered hash is in `bytes` at `at`. The bytes do not change any more. */
  named(bytes: Buffer, at: number): void {
    this.#names = bytes;
    this.#namedAt = at;
  }
}

export class KeyedGrains {
  readonly memory: Memory;
  readonly cipher: TrailCipher;
  /** The prefix of all their names. */
  readonly prefix: string;
  /** The user's key, or the memory's. */
  readonly #key: number;
  readonly keys: NameKeys;
  readonly #grainKey: KeyObject;
  readonly #planned: PlannedGrain[] = [];
  readonly #records: Buffer[] = [];

  /** `key` and `scopeKey` are ids; `isUsers`: the first is a user's. */
  constructor(memory: Memory, key: number, scopeKey: number, isUsers: boolean) {
    this.memory = memory;
    this.#key = key;
    this.keys = { user: isUsers ? key : 0, scope: scopeKey };
    this.cipher = memory.trail.cipher(this.keys);
    this.prefix = namePrefix(this.keys);
    this.#grainKey = memory.grainKey(key, scopeKey);
  }

  /** The record of a grain, without its enciphered hash and sealed bytes. `add` then takes it. */
  recordOf({ blob }: PreparedGrain): Buffer {
    const { user, scope } = this.keys;
    const head = { memory: this.memory.number, key: this.#key, scopeKey: scope, userKey: user };
    return startGrainRecord(head, blob.length + SEAL_BYTES);
  }

  add(planned: PlannedGrain, record: Buffer): void {
    this.#planned.push(planned);
    this.#records.push(record);
  }

  /** Names the grains, binds each record to its enciphered hash, and seals the blobs. */
  close(): void {
    const planned = this.#planned;
    const records = this.#records;
    const all = this.cipher.encipherAll(planned.map(({ prepared }) => prepared.address));
    for (let i = 0; i < planned.length; i++) {
      const at = i * HASH_BYTES;
      planned[i]!.named(all, at);
      all.copy(records[i]!, GRAIN_BOUND_AT, at, at + HASH_BYTES);
    }
    sealAll(this.#grainKey, {
      into: records,
      bodies: planned.map(({ prepared }) => prepared.blob),
      additionalAt: GRAIN_BOUND_AT,
      at: GRAIN_SEALED_AT,
    });
  }
}
