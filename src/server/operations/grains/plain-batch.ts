// Reads a BatchAdd of plain grains (engine/grain/plain) without a message object and without parsed JSON for each. It only
// ever accepts: whatever it does not expect, a fault included, is left to the general path.
import { EngineError } from '../../../engine/base/errors.ts';
import { BATCH_GRAINS_MAX, REQUEST_MEMBERS_MAX } from '../../../engine/base/limits.ts';
import { countMembers } from '../../../engine/grain/api/json-bounds.ts';
import { PlainGrains } from '../../../engine/grain/plain/plain-grains.ts';
import { PlainItem } from '../../../engine/grain/plain/plain-item.ts';
import { PLAIN_TYPES, type PlainType } from '../../../engine/grain/plain/scan.ts';

/** The items of a request of several grains, tag and length-delimited type. */
const ITEMS = 0x0a;
const GRAIN_TYPE = 0x0a;
const FIELDS_JSON = 0x12;
/** A shorter text needs no count of its members. */
const FREE_BYTES = 2 * REQUEST_MEMBERS_MAX;

/** The place of an item's message in the request. */
interface ItemMessage {
  readonly from: number;
  readonly to: number;
}

const TYPE_KEYS = PLAIN_TYPES.map((type) => ({ type, key: Buffer.from(type, 'ascii') }));

/** Where the next byte of a message is read. */
let at = 0;

/** The length that follows a tag, of at most four bytes; -1 for another one, and for one beyond `end`. */
function length(bytes: Uint8Array, end: number): number {
  let value = 0;
  for (let shift = 0; shift < 28 && at < end; shift += 7) {
    const byte = bytes[at++]!;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return at + value <= end ? value : -1;
  }
  return -1;
}

/**
 * The items of a request of plain grains, in order; `readOther` reads the message of an item that is not plain. Undefined
 * for any other request. `request` is copied, because the grains may wait for their group.
 */
export function readPlainBatch<T>(
  request: Uint8Array,
  readOther: (message: Uint8Array) => T,
): (PlainItem | T)[] | undefined {
  const items: (PlainItem | ItemMessage)[] = [];
  const bytes = Buffer.from(request);
  const count = countItems(bytes);
  if (count < 0) return undefined;
  const grains = new PlainGrains(bytes, count);
  const counts = { texts: 0, members: 0 };
  try {
    for (at = 0; at < bytes.length; ) {
      at += 1;
      const size = length(bytes, bytes.length);
      const from = at;
      const item = readItem(bytes, from + size, grains, counts);
      if (item === undefined) return undefined;
      items.push(item);
      at = from + size;
    }
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
  const isMany = counts.texts > FREE_BYTES && counts.members > REQUEST_MEMBERS_MAX;
  if (isMany || grains.count === 0) return undefined;
  return items.map((item) => (item instanceof PlainItem ? item : readOther(bytes.subarray(item.from, item.to))));
}

/** The number of items of a message that consists of nothing else; else -1. */
function countItems(bytes: Uint8Array): number {
  let count = 0;
  for (at = 0; at < bytes.length; count++) {
    if (bytes[at++] !== ITEMS || count === BATCH_GRAINS_MAX) return -1;
    const size = length(bytes, bytes.length);
    if (size < 0) return -1;
    at += size;
  }
  return count;
}

interface Counts {
  texts: number;
  members: number;
}

/** The item whose message begins at `at`; undefined when it has other members than a type and a text, once each. */
function readItem(
  bytes: Buffer,
  end: number,
  grains: PlainGrains,
  counts: Counts,
): PlainItem | ItemMessage | undefined {
  const from = at;
  if (!readMembers(bytes, end)) return undefined;
  const { text, textEnd } = found;
  counts.texts += textEnd - text;
  const row = grains.count;
  const members = addFound(grains);
  if (members >= 0) {
    counts.members += members;
    return new PlainItem(grains, row);
  }
  if (text >= 0) counts.members += countMembers(bytes.subarray(text, textEnd));
  return { from, to: end };
}

/**
 * The grain of the message of an Add, which is that of an item too, from `from` to `end - 1`, added to `grains`; undefined when
 * the message has other members than a type and a text, once each, or the grain is not plain.
 */
export function readPlainMessage(bytes: Buffer, from: number, end: number, grains: PlainGrains): PlainItem | undefined {
  at = from;
  const row = grains.count;
  return readMembers(bytes, end) && addFound(grains) >= 0 ? new PlainItem(grains, row) : undefined;
}

/** The members of the message that was read last. */
const found: { type: PlainType | undefined; text: number; textEnd: number } = {
  type: undefined,
  text: -1,
  textEnd: -1,
};

/** Adds the grain of the members that were found. Returns the number of its own members, or -1 when it is not plain. */
function addFound(grains: PlainGrains): number {
  const { type, text, textEnd } = found;
  return type === undefined || text < 0 ? -1 : grains.add(type, text, textEnd);
}

/** Reads the message from `at`; false when it has other members than a type and a text, once each. */
function readMembers(bytes: Buffer, end: number): boolean {
  let type: PlainType | undefined;
  let hasType = false;
  let text = -1;
  let textEnd = -1;
  while (at < end) {
    const tag = bytes[at++]!;
    const size = length(bytes, end);
    if (size < 0) return false;
    if (tag === GRAIN_TYPE && !hasType) {
      hasType = true;
      type = typeOf(bytes, at, at + size);
    } else if (tag === FIELDS_JSON && text < 0) {
      text = at;
      textEnd = at + size;
    } else return false;
    at += size;
  }
  found.type = type;
  found.text = text;
  found.textEnd = textEnd;
  return true;
}

function typeOf(bytes: Buffer, start: number, end: number): PlainType | undefined {
  for (let i = 0; i < TYPE_KEYS.length; i++) {
    const { type, key } = TYPE_KEYS[i]!;
    if (key.length === end - start && bytes.compare(key, 0, key.length, start, end) === 0) return type;
  }
  return undefined;
}
