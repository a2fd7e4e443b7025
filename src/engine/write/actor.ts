import { decodeRecord } from '../record/record-codec.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import type { Group } from './group.ts';
import { liveKeyOf } from './named-key.ts';

/**
 * An actor or subject of the chain in the form that readers see. A person whose key was destroyed appears as the
 * fingerprint of that key.
 */
export function shownPerson(store: Store, memory: Memory, stored: string): string {
  const token = PSEUDONYM.exec(stored)?.[1];
  if (token === undefined) return stored;
  const sequence = store.newestKeyed(memory.number, 'userKey', token);
  const bytes = sequence === undefined ? undefined : store.log.read(sequence);
  const record = bytes === undefined ? undefined : decodeRecord(bytes);
  if (record?.kind !== 'key') return stored;
  const fingerprint = store.keys.tombstone(record.key)?.fingerprint;
  return fingerprint === undefined ? stored : `erased:${fingerprint}`;
}
const PSEUDONYM = /^user:([0-9a-f]{32})$/;

/**
 * Free text never enters the audit chain; its HMAC does, under the key of the person concerned, or the memory's key if
 * no person is concerned. For a person without a live key the entry leaves it out: under another key the text could
 * still be guessed after an erasure.
 */
export function reasonDetail(
  group: Group,
  memory: Memory,
  reason: string | undefined,
  userId?: string,
): { readonly reason_hmac?: string } {
  if (reason === undefined || reason === '') return {};
  const keyed = keyedText(group, memory, reason, userId);
  return keyed === undefined ? {} : { reason_hmac: keyed };
}

/** The fingerprint of the text, 64 hex digits; undefined for a person without a live key. */
export function keyedText(group: Group, memory: Memory, text: string, userId: string | undefined): string | undefined {
  const key = userId === undefined ? 0 : liveKeyOf(group, memory, userId);
  return key === undefined ? undefined : memory.trail.text(text, key);
}
