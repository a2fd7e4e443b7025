// Bytes of a JSON text, looked at before a parser makes objects of them: a million members take seconds to parse, to walk and
// to collect again, and nothing that a caller has to say needs them. One pass over the bytes, some nanoseconds each; what is
// too short to break a bound is not looked at. Whether the bytes are JSON at all is the parser's to say.
import { EngineError } from '../../base/errors.ts';
import { JSON_DEPTH_MAX, REQUEST_MEMBERS_MAX } from '../../base/limits.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A member takes two bytes at least, its value and a comma. */
const FREE_BYTES = 2 * REQUEST_MEMBERS_MAX;

/** Throws VAL-E001 for more members than a request may have, or deeper nesting. `what` names the text in the refusal. */
export function checkJsonBounds(json: Uint8Array, what: string = 'the body'): void {
  if (json.length > FREE_BYTES) checkMembers(countMembers(json, what), what);
}

/** The same of texts that one request brings: they share the bound. */
export function checkJsonTextBounds(texts: readonly string[], what: string): void {
  let length = 0;
  for (const text of texts) length += text.length;
  if (length <= FREE_BYTES) return;
  let members = 0;
  for (const text of texts) {
    members += countMembers(Buffer.from(text), what);
    checkMembers(members, what);
  }
}

/** What each byte means between strings; 0 for what is of no interest, as nearly all are. */
const MEANING = new Uint8Array(256);
for (const byte of [QUOTE, COMMA, OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT]) MEANING[byte] = byte;

/** Members of objects and elements of lists, at every depth. Counts no further than one above the bound. */
export function countMembers(json: Uint8Array, what: string = 'the body'): number {
  const { length } = json;
  let members = 0;
  let depth = 0;
  for (let at = 0; at < length && members <= REQUEST_MEMBERS_MAX; at += 1) {
    const meaning = MEANING[json[at]!]!;
    if (meaning === 0) continue;
    if (meaning === QUOTE) at = closingQuote(json, at);
    else if (meaning === COMMA) members += 1;
    else if (meaning === OPEN_LIST || meaning === OPEN_OBJECT) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX)
        throw new EngineError('VAL-E001', `${what} is nested deeper than ${JSON_DEPTH_MAX} levels`);
      // One more than its commas, unless it turns out to be empty.
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

function closingQuote(json: Uint8Array, quote: number): number {
  let at = quote + 1;
  for (; at < json.length && json[at] !== QUOTE; at += 1) if (json[at] === BACKSLASH) at += 1;
  return at;
}

/** True when nothing but blanks stands before the bracket that closes at `close`, back to the one that opens. */
function isEmpty(json: Uint8Array, close: number): boolean {
  let at = close - 1;
  while (at >= 0 && json[at]! <= 0x20) at -= 1;
  return json[at] === OPEN_LIST || json[at] === OPEN_OBJECT;
}
