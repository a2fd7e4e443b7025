// Detects whether an undecoded request asks for extraction or relations. The main thread must read such a request,
// because workers have neither; every other add goes to its memory's worker undecoded. These checks precede every add, so
// they inspect a few bytes and decode no grain.
import { REQUEST_MEMBERS_MAX } from '../../../engine/base/limits.ts';
import { AddOptions } from '../../gen/memory/v1/memory.ts';
import { type FieldsLeft, type Stretch, someField } from '../grains/wire-fields.ts';

const WORDS = [Buffer.from('extract_'), Buffer.from('auto_relate')];
const UNDERSCORE = '_'.charCodeAt(0);
/** The letters before the underscores of the words. */
const BEFORE = ['t'.charCodeAt(0), 'o'.charCodeAt(0)];
/** Up to so many bytes and underscores, a look at each underscore takes less than a search for the words. */
const LOOKED_BYTES_MAX = 1_024;
const LOOKS_MAX = 8;
/** Begins the escape of each ASCII character in JSON. A digit from 4 to 7 follows for letters and the underscore. */
const ESCAPE = Buffer.from('\\u00');
/** A body with more escapes of other characters counts as one that asks: this look precedes every add. */
const ESCAPES_MAX = 4_096;
const [FIRST_OF_LETTERS, LAST_OF_LETTERS] = ['4'.charCodeAt(0), '7'.charCodeAt(0)];

/** Checks a JSON body. False positives are harmless: the main thread gives the same answer. */
export function jsonAsks(body: Uint8Array): boolean {
  const bytes = asBuffer(body);
  if (escapesLetters(bytes)) return true;
  if (body.length <= LOOKED_BYTES_MAX && !mayAsk(body)) return false;
  return WORDS.some((word) => bytes.indexOf(word) !== -1);
}

/** True when a letter or underscore is escaped, or too much to look through. No serializer writes that, but a name may be spelled so. */
function escapesLetters(bytes: Buffer): boolean {
  let escapes = 0;
  for (let at = bytes.indexOf(ESCAPE); at !== -1; at = bytes.indexOf(ESCAPE, at + ESCAPE.length)) {
    escapes += 1;
    if (escapes > ESCAPES_MAX) return true;
    const digit = bytes[at + ESCAPE.length] ?? 0;
    if (digit >= FIRST_OF_LETTERS && digit <= LAST_OF_LETTERS) return true;
  }
  return false;
}

/** False when no underscore can belong to one of the words. */
function mayAsk(body: Uint8Array): boolean {
  let at = body.indexOf(UNDERSCORE);
  for (let looks = 1; at !== -1; looks++) {
    if (looks > LOOKS_MAX || BEFORE.includes(body[at - 1] ?? 0)) return true;
    at = body.indexOf(UNDERSCORE, at + 1);
  }
  return false;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const ADD_OPTIONS = 3;
const BATCH_ITEMS = 1;

/** Checks an AddRequest. The worker refuses malformed bytes. */
export function addAsks(message: Uint8Array): boolean {
  return anyField(message, { from: 0, to: message.length }, ADD_OPTIONS, optionsAsk);
}

/** Checks a BatchAddRequest; one item that asks is enough. */
export function batchAsks(message: Uint8Array): boolean {
  const left: FieldsLeft = { count: REQUEST_MEMBERS_MAX };
  const itemAsks: Asks = (bytes, item) => anyField(bytes, item, ADD_OPTIONS, optionsAsk, left);
  return anyField(message, { from: 0, to: message.length }, BATCH_ITEMS, itemAsks, left);
}

type Asks = (message: Uint8Array, stretch: Stretch) => boolean;

function optionsAsk(message: Uint8Array, { from, to }: Stretch): boolean {
  try {
    const { extractEventDate, extractMemories, autoRelate } = AddOptions.decode(message.subarray(from, to));
    return extractEventDate === true || extractMemories === true || autoRelate === true;
  } catch {
    return false;
  }
}

/** True when one of the fields with the number `wanted` asks. */
function anyField(message: Uint8Array, stretch: Stretch, wanted: number, asks: Asks, left?: FieldsLeft): boolean {
  return someField(message, stretch, (number, field) => number === wanted && asks(message, field), left);
}
