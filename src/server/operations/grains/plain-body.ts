// Reads the body of a batch of plain grains (engine/grain/plain) over HTTP without parsing it. It only ever accepts:
// whatever it does not expect, a fault included, is left to the general path.
import { BATCH_GRAINS_MAX, REQUEST_MEMBERS_MAX } from '../../../engine/base/limits.ts';
import { PlainGrains } from '../../../engine/grain/plain/plain-grains.ts';
import { PlainItem } from '../../../engine/grain/plain/plain-item.ts';
import { at, blanks, literal, PLAIN_TYPES, type PlainType, startAt, token } from '../../../engine/grain/plain/scan.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const GRAINS = Buffer.from('grains', 'ascii');
const GRAIN_TYPE = Buffer.from('grain_type', 'ascii');
const FIELDS = Buffer.from('fields', 'ascii');
const TYPE_NAMES = PLAIN_TYPES.map((type) => Buffer.from(type, 'ascii'));
/** No plain item is shorter. */
const ITEM_BYTES_MIN = '{"grain_type":"event","fields":{"content":"a"}}'.length;
/** A shorter body needs no count of its members. */
const FREE_BYTES = 2 * REQUEST_MEMBERS_MAX;
/** An element of the list, with its two members. */
const ITEM_MEMBERS = 3;

/**
 * The items of a body with the member `grains` alone, whose elements are plain grains with a type and fields alone.
 * Undefined for any other body. `body` is copied, because the grains may wait for their group.
 */
export function readPlainBody(body: Uint8Array): PlainItem[] | undefined {
  const most = Math.min(BATCH_GRAINS_MAX, Math.floor(body.length / ITEM_BYTES_MIN));
  if (most === 0) return undefined;
  const bytes = Buffer.from(body);
  const end = bytes.length;
  const grains = new PlainGrains(bytes, most);
  const items: PlainItem[] = [];
  let members = 1;
  startAt(0);
  if (!token(bytes, end, OPEN_OBJECT) || !isKey(bytes, end, GRAINS) || !token(bytes, end, OPEN_LIST)) return undefined;
  do {
    const read = items.length === most ? -1 : readItem(bytes, end, grains);
    if (read < 0) return undefined;
    members += ITEM_MEMBERS + read;
    items.push(new PlainItem(grains, items.length));
  } while (token(bytes, end, COMMA));
  if (!token(bytes, end, CLOSE_LIST) || !token(bytes, end, CLOSE_OBJECT)) return undefined;
  blanks(bytes, end);
  if (at !== end || (end > FREE_BYTES && members > REQUEST_MEMBERS_MAX)) return undefined;
  return items;
}

/**
 * The grain of a body from `from` to `to - 1` that is the fields of a plain belief, or a plain grain with a type and fields alone,
 * added to `grains`; undefined for any other body.
 */
export function readPlainElement(bytes: Buffer, from: number, to: number, grains: PlainGrains): PlainItem | undefined {
  const row = grains.count;
  if (grains.add('belief', from, to) < 0) {
    startAt(from);
    if (readItem(bytes, to, grains) < 0) return undefined;
    blanks(bytes, to);
    if (at !== to) return undefined;
  }
  return new PlainItem(grains, row);
}

/** Adds the grain of an element. Returns the number of its fields and tags, or -1 when it is not plain. */
function readItem(bytes: Buffer, end: number, grains: PlainGrains): number {
  if (!token(bytes, end, OPEN_OBJECT)) return -1;
  const isTypeFirst = isKey(bytes, end, GRAIN_TYPE);
  let type = isTypeFirst ? readType(bytes, end) : undefined;
  if (isTypeFirst && !token(bytes, end, COMMA)) return -1;
  if (!isKey(bytes, end, FIELDS)) return -1;
  blanks(bytes, end);
  const from = at;
  const to = endOfFields(bytes, end);
  if (to < 0) return -1;
  startAt(to);
  if (!isTypeFirst) {
    if (!token(bytes, end, COMMA) || !isKey(bytes, end, GRAIN_TYPE)) return -1;
    type = readType(bytes, end);
  }
  if (type === undefined || !token(bytes, end, CLOSE_OBJECT)) return -1;
  const next = at;
  const members = grains.add(type, from, to);
  startAt(next);
  return members;
}

/** Passes the key and its colon; passes nothing and is false when another key follows. */
function isKey(bytes: Buffer, end: number, key: Buffer): boolean {
  blanks(bytes, end);
  const before = at;
  const start = literal(bytes, end);
  if (start >= 0 && isText(bytes, start, at - 1, key) && token(bytes, end, COLON)) return true;
  startAt(before);
  return false;
}

function readType(bytes: Buffer, end: number): PlainType | undefined {
  blanks(bytes, end);
  const start = literal(bytes, end);
  if (start < 0) return undefined;
  for (let i = 0; i < TYPE_NAMES.length; i++) if (isText(bytes, start, at - 1, TYPE_NAMES[i]!)) return PLAIN_TYPES[i];
  return undefined;
}

function isText(bytes: Buffer, start: number, end: number, text: Buffer): boolean {
  return text.length === end - start && bytes.compare(text, 0, text.length, start, end) === 0;
}

/** Where the object at `at` ends, which holds no other object and no escape; -1 for another one. */
function endOfFields(bytes: Buffer, end: number): number {
  if (bytes[at] !== OPEN_OBJECT) return -1;
  let inText = false;
  for (let i = at + 1; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE) inText = !inText;
    else if (byte === BACKSLASH) return -1;
    else if (inText) continue;
    else if (byte === CLOSE_OBJECT) return i + 1;
    else if (byte === OPEN_OBJECT) return -1;
  }
  return -1;
}
