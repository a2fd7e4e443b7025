// Rules for callers of a log. A breach is a bug of the caller.
import { assert } from '../base/assert.ts';
import { APPEND_ITEMS_MAX, STATE_KEY_BYTES_MAX } from '../base/limits.ts';
import type { Append, Sequence } from './log.ts';

const ASCII = /^[\x20-\x7e]+$/;

/** `next`: the sequence number that the first record will get. */
export function checkAppend(append: Append, next: Sequence): void {
  const { records, replacements = [], removals = [], state = [], keySlots = [] } = append;
  // Removals are bounded by the log's own records: an erasure removes everything of a person at once.
  const written = state.reduce((sum, [, value]) => (value === null ? sum : sum + 1), 0);
  assert(
    records.length + replacements.length + keySlots.length + written <= APPEND_ITEMS_MAX,
    'an append is a bounded group',
  );
  // By their places: an iterator makes an object for each.
  for (let i = 0; i < records.length; i++) assert(records[i] instanceof Uint8Array, 'a record is bytes');
  for (const [sequence, bytes] of replacements)
    assert(
      sequence > 0 && sequence < next && bytes instanceof Uint8Array,
      'a replacement is of a record written before',
    );
  for (const sequence of removals)
    assert(Number.isInteger(sequence) && sequence > 0 && sequence < next, 'a removal names a record that was written');
  for (const [key, value] of state) {
    assert(key.length <= STATE_KEY_BYTES_MAX && ASCII.test(key), 'a state key is short ASCII');
    assert(value === null || value instanceof Uint8Array, 'a state value is bytes');
  }
  for (const [id, slot] of keySlots)
    assert(Number.isInteger(id) && id > 0 && slot instanceof Uint8Array, 'a slot of a key is bytes');
}

export function isNothing({ records, replacements = [], removals = [], state = [], keySlots = [] }: Append): boolean {
  return records.length + replacements.length + removals.length + state.length + keySlots.length === 0;
}
