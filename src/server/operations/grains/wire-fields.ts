// Walks over a message's fields without decoding it, for what has to be known of a request that a worker will read. It
// stands before every such request, so it is written out by hand (~0.3 µs; a reader's object alone takes several times that).

import { EngineError } from '../../../engine/base/errors.ts';
import { REQUEST_MEMBERS_MAX } from '../../../engine/base/limits.ts';

/** Where in the message a field's bytes lie. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** What is done with a field: `value` is that of a varint (its lowest 28 bits). True ends the walk. */
export type Visit = (number: number, stretch: Stretch, value: number) => boolean;

const VARINT = 0;
const FIXED_64 = 1;
const DELIMITED = 2;
const FIXED_32 = 5;

/** How many fields may still be walked over, where several walks go over one message. */
export interface FieldsLeft {
  count: number;
}

/**
 * True when one of the visits was. A message that breaks off, or is none, ends the walk there. Throws VAL-E001 for more fields
 * than a request may have.
 */
export function someField(
  message: Uint8Array,
  { from, to }: Stretch,
  visit: Visit,
  left: FieldsLeft = { count: REQUEST_MEMBERS_MAX },
): boolean {
  let at = from;
  /** A varint below 2^28, as lengths and tags are here; more of it is passed over. */
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; at < to; shift += 7) {
      const byte = message[at++]!;
      if (shift < 28) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < to) {
    left.count -= 1;
    if (left.count < 0) throw new EngineError('VAL-E001', `the message has more than ${REQUEST_MEMBERS_MAX} members`);
    const tag = varint();
    const wire = tag & 7;
    let value = 0;
    let start = at;
    if (wire === VARINT) value = varint();
    else if (wire === FIXED_64) at += 8;
    else if (wire === FIXED_32) at += 4;
    else if (wire === DELIMITED) {
      const length = varint();
      start = at;
      at += length;
    } else return false;
    if (at > to) return false;
    if (visit(tag >>> 3, { from: start, to: at }, value)) return true;
  }
  return false;
}
