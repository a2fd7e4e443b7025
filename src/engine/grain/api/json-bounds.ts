// Checks the bounds of a JSON text before it is parsed. A million members take seconds to parse, walk and garbage-collect,
// and no valid request needs them. One pass costs some nanoseconds a byte; texts too short to exceed a bound are skipped.
// The parser, not this file, decides whether the bytes are JSON.
import { EngineError } from '../../base/errors.ts';
import { JSON_DEPTH_MAX, REQUEST_MEMBERS_MAX } from '../../base/limits.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Shorter texts need no count: a member takes at least two bytes, its value and a comma. */
const FREE_BYTES = 2 * REQUEST_MEMBERS_MAX;

/** Throws VAL-E001 for too many members or too deep nesting. `what` names the text in the error. */
export function checkJsonBounds(json: Uint8Array, what: string = 'the body'): void {
  if (json.length > FREE_BYTES) checkMembers(countMembers(json, what), what);
}

/** `checkJsonBounds` for several texts of one request, which share the bound. */
export function checkJsonTextBounds(texts: readonly string[], what: string): void {
  let length = 0;
  for (const text of texts) length += text.length;
  if (length <= FREE_BYTES) return;
  let members = 0;
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i]!;
    // Short texts share a buffer: a new one for each would be most of the garbage of this pass.
    const isShort = text.length * 3 <= shared.length;
    const json = isShort ? shared : Buffer.from(text);
    members += countMembers(json, what, isShort ? shared.write(text) : json.length);
    checkMembers(members, what);
  }
}

/** A UTF-16 unit takes at most three bytes. */
const shared = Buffer.allocUnsafeSlow(16_384);

/** Meaning of each byte outside strings; 0 for bytes without structural meaning. */
const MEANING = new Uint8Array(256);
for (const byte of [QUOTE, COMMA, OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT]) MEANING[byte] = byte;

/**
 * Counts members and elements at every depth in the first `length` bytes, up to one above the bound. Throws VAL-E001 for
 * too deep nesting.
 */
export function countMembers(json: Uint8Array, what: string = 'the body', length = json.length): number {
  let members = 0;
  let depth = 0;
  for (let at = 0; at < length && members <= REQUEST_MEMBERS_MAX; at += 1) {
    const meaning = MEANING[json[at]!]!;
    if (meaning === 0) continue;
    if (meaning === QUOTE) at = closingQuote(json, at, length);
    else if (meaning === COMMA) members += 1;
    else if (meaning === OPEN_LIST || meaning === OPEN_OBJECT) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX)
        throw new EngineError('VAL-E001', `${what} is nested deeper than ${JSON_DEPTH_MAX} levels`);
      // A container has one member more than commas, unless it is empty.
      members += 1;
    } else {
      depth -= 1;
      if (isEmpty(json, at)) members -= 1;
    }
  }
  return members;
}

function checkMembers(members: number, what: string): void {
  if (members > REQUEST_MEMBERS_MAX)
    throw new EngineError('VAL-E001', `${what} has more than ${REQUEST_MEMBERS_MAX} members and elements`);
}

function closingQuote(json: Uint8Array, quote: number, length: number): number {
  let at = quote + 1;
  for (; at < length && json[at] !== QUOTE; at += 1) if (json[at] === BACKSLASH) at += 1;
  return at;
}

/** True when only white space lies between the bracket at `close` and its opening bracket. */
function isEmpty(json: Uint8Array, close: number): boolean {
  let at = close - 1;
  while (at >= 0 && json[at]! <= 0x20) at -= 1;
  return json[at] === OPEN_LIST || json[at] === OPEN_OBJECT;
}
