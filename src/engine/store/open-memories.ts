// The memories of a shard, by the setting records that name their keys. Some of them are open.
import { EngineError } from '../base/errors.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { Log, Sequence } from '../log/log.ts';
import type { SettingRecord } from '../record/record.ts';
import { decodeRecord } from '../record/record-codec.ts';
import { Memory } from './memory.ts';
import { RecentMap } from './recent-map.ts';

/**
 * Memories kept open. Others are opened again at their next use. The number is far above the memories of one group:
 * changes that a group plans on an open memory stay on that object until the group is published.
 */
const OPEN_MEMORIES_MAX = 20_000;
/** Memories that health lists. */
const UNOPENED_NAMES_MAX = 100;
const PREFIX = 'memory/';

export class OpenMemories {
  /** Memories that did not open at their last use, and why. */
  readonly unopened = new Map<number, string>();
  readonly #log: Log;
  readonly #keys: KeyStore;
  readonly #open = new RecentMap<number, Memory>(OPEN_MEMORIES_MAX);
  readonly #settings = new Map<number, Sequence>();

  constructor(log: Log, keys: KeyStore) {
    this.#log = log;
    this.#keys = keys;
    for (const [key, value] of log.scanState(PREFIX))
      this.#settings.set(Number(key.slice(PREFIX.length)), Buffer.from(value).readUInt32BE(0));
  }

  /** The memory with that number. MEM-E003 when this shard does not hold it. */
  get(number: number): Memory {
    const known = this.#open.get(number);
    if (known !== undefined) return known;
    const sequence = this.#settings.get(number);
    if (sequence === undefined) throw new EngineError('MEM-E003');
    const memory = this.#opened(number, sequence);
    this.#open.set(number, memory);
    return memory;
  }

  #opened(number: number, sequence: Sequence): Memory {
    try {
      const opened = new Memory(this.#settingAt(number, sequence), this.#keys, this.#log);
      this.unopened.delete(number);
      return opened;
    } catch (error) {
      if (error instanceof EngineError && this.unopened.size < UNOPENED_NAMES_MAX)
        this.unopened.set(number, error.message);
      throw error;
    }
  }

  /** The setting record. MEM-E003, STO-E001. */
  setting(number: number): SettingRecord {
    const sequence = this.#settings.get(number);
    if (sequence === undefined) throw new EngineError('MEM-E003');
    return this.#settingAt(number, sequence);
  }

  #settingAt(number: number, sequence: Sequence): SettingRecord {
    const bytes = this.#log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    if (record?.kind !== 'setting')
      throw new EngineError('STO-E001', `the settings record ${sequence} is missing in the log: restore a backup`);
    if (record.memory !== number)
      throw new EngineError(
        'STO-E001',
        `the settings record ${sequence} belongs to memory ${record.memory}, not to memory ${number}: restore a backup`,
      );
    return record;
  }

  holds(number: number): boolean {
    return this.#settings.has(number);
  }

  numbers(): IterableIterator<number> {
    return this.#settings.keys();
  }

  /** The next use opens the memory again. */
  close(number: number): void {
    this.#open.delete(number);
  }

  /** Called after the setting record at `sequence` was committed. */
  changed(number: number, sequence: Sequence): void {
    this.#settings.set(number, sequence);
  }

  /** The memory is gone. */
  remove(number: number): void {
    this.#settings.delete(number);
    this.unopened.delete(number);
  }
}
