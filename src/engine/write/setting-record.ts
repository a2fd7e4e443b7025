// The record of a memory's settings and keys.
import type { Sequence } from '../log/log.ts';
import type { SettingRecord } from '../record/record.ts';

/** The part of a group that this needs. */
interface SettingGroup {
  readonly store: { settingChanged(number: number, sequence: Sequence, keepOpen: boolean): void };
  record(record: SettingRecord): Sequence;
  setState(name: string, value: Uint8Array): void;
  onPublish(then: () => void): void;
}

/** Writes a setting record and makes it the memory's current one. */
export function writeSetting(
  group: SettingGroup,
  number: number,
  ids: { readonly blob: number; readonly token: number; readonly index: number },
  sealed: Uint8Array,
  keepOpen: boolean,
): void {
  const sequence = group.record({
    kind: 'setting',
    memory: number,
    blobKey: ids.blob,
    tokenKey: ids.token,
    indexKey: ids.index,
    dropped: false,
    sealed,
  });
  const value = Buffer.alloc(4);
  value.writeUInt32BE(sequence);
  group.setState(`memory/${number}`, value);
  group.onPublish(() => group.store.settingChanged(number, sequence, keepOpen));
}
