// The keys of the users and scopes of a memory, as their records in the log and the key store have them.
import type { Keyed } from '../index/parts/part.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { Log, Sequence } from '../log/log.ts';
import type { KeyRecord } from '../record/record.ts';
import { decodeRecord } from '../record/record-codec.ts';
import type { Memory } from './memory.ts';

/** The key of a user or a scope. */
export interface NamedKey {
  readonly key: number;
  readonly live: boolean;
  readonly record: KeyRecord;
}

/** The parts of a store that find records of keys. */
interface KeyRecords {
  readonly log: Log;
  readonly keys: KeyStore;
  newestKeyed(memory: number, kind: Keyed, key: string): Sequence | undefined;
  allKeyed(memory: number, kind: Keyed): readonly Sequence[];
}

/** Finds the keys of users and scopes. */
export class NamedKeys {
  readonly #records: KeyRecords;

  constructor(records: KeyRecords) {
    this.#records = records;
  }

  /** The newest key of a user in this memory, live or destroyed; undefined for an unknown user. */
  user(memory: Memory, userId: string): NamedKey | undefined {
    return this.#newest(memory, 'userKey', memory.userToken(userId));
  }

  /** The newest key of a scope in this memory, live or destroyed; undefined for a scope without writes. */
  scope(memory: Memory, path: string): NamedKey | undefined {
    return this.#newest(memory, 'scopeKey', memory.scopeToken(path));
  }

  /** The number of users of the memory with a live key. */
  userCount(memory: Memory): number {
    return this.liveUsers(memory).length;
  }

  /** The key ids of all users of the memory with a live key. */
  liveUsers(memory: Memory): number[] {
    return this.#live(memory, 'userKey');
  }

  /** The key ids of all scopes of the memory with a live key. */
  liveScopes(memory: Memory): number[] {
    return this.#live(memory, 'scopeKey');
  }

  #newest(memory: Memory, kind: 'userKey' | 'scopeKey', token: string): NamedKey | undefined {
    const record = this.#recordAt(this.#records.newestKeyed(memory.number, kind, token));
    if (record === undefined) return undefined;
    const { key, action } = record;
    return { key, live: action === 'made' && this.#records.keys.state(key) === 'live', record };
  }

  #live(memory: Memory, kind: 'userKey' | 'scopeKey'): number[] {
    const live = new Set<number>();
    for (const sequence of this.#records.allKeyed(memory.number, kind)) {
      const key = this.#recordAt(sequence)?.key;
      if (key !== undefined && this.#records.keys.state(key) === 'live') live.add(key);
    }
    return [...live];
  }

  #recordAt(sequence: Sequence | undefined): KeyRecord | undefined {
    const bytes = sequence === undefined ? undefined : this.#records.log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    return record?.kind === 'key' ? record : undefined;
  }
}
