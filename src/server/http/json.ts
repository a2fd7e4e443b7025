// A request's body as JSON. Strict where leniency would let two readers see two documents: the bytes are valid UTF-8
// without a byte order mark; members, nesting and digits are bounded. Of two members with one name the last wins, as JSON.parse has it and
// as the contract's clients expect; noticing them would take a second parser on the busiest path.
import { isUtf8 } from 'node:buffer';
import { EngineError } from '../../engine/base/errors.ts';
import { JSON_DEPTH_MAX } from '../../engine/base/limits.ts';
import { parseJson as parseExactly } from '../../engine/grain/api/json.ts';
import { checkJsonBounds } from '../../engine/grain/api/json-bounds.ts';
import type { HttpRequest } from './listener.ts';

/**
 * The bytes of a JSON body, not yet read. Rejects with LIM-E003 beyond `bytesMax`, VAL-E006 for another content type
 * or none, or a compressed body. A type that has to be said keeps other pages' forms and simple requests out.
 */
export async function jsonBody(request: HttpRequest, bytesMax: number): Promise<Uint8Array> {
  const type = request.only('content-type');
  const encoding = request.header('content-encoding');
  const bytes = await request.body(bytesMax);
  if (bytes.byteLength > 0 && encoding !== undefined) checkEncoding(encoding);
  if (bytes.byteLength > 0 && (type === undefined || !isJson(type)))
    throw new EngineError(
      'VAL-E006',
      `${type === undefined ? 'no content type' : `unsupported content type ${type}`}: send application/json`,
    );
  return bytes;
}

/** Bodies come as they are. Throws VAL-E006 for a compressed one. */
export function checkEncoding(encoding: string): void {
  if (encoding !== '' && encoding.trim().toLowerCase() !== 'identity')
    throw new EngineError('VAL-E006', `unsupported content encoding ${encoding}`);
}

/** A body as a value; undefined when there is none. Throws as `parseJson` does. */
export function parseBody(bytes: Uint8Array): unknown {
  return bytes.byteLength === 0 ? undefined : parseJson(bytes);
}

/**
 * A JSON text as a value, large integers as `bigint`. Throws VAL-E002 for what is not JSON, VAL-E001 for too many members, too
 * deep nesting or a number of too many digits.
 */
export function parseJson(bytes: Uint8Array): unknown {
  checkJsonBounds(bytes);
  let value: unknown;
  try {
    const text = textOf(bytes);
    value = holdsLongInteger(bytes) ? parseExactly(text) : JSON.parse(text);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    // The words of a syntax error quote a few characters of the body and no more.
    throw new EngineError('VAL-E002', `the body is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
  if (tooDeep(value, JSON_DEPTH_MAX)) {
    throw new EngineError('VAL-E001', `the body is nested deeper than ${JSON_DEPTH_MAX} levels`);
  }
  return value;
}

/**
 * True when sixteen digits stand in a row, not behind a decimal point: nothing else can be an integer beyond 2^53. One
 * byte in sixteen is looked at, a thirtieth of what parsing takes; a pattern would take a third of it.
 */
function holdsLongInteger(bytes: Uint8Array): boolean {
  for (let i = RUN - 1; i < bytes.length; i += RUN) {
    if (!isDigit(bytes[i])) continue;
    let start = i;
    while (isDigit(bytes[start - 1])) start -= 1;
    let end = i + 1;
    while (isDigit(bytes[end])) end += 1;
    if (end - start >= RUN && bytes[start - 1] !== POINT) return true;
    i = end;
  }
  return false;
}

const RUN = 16;
const POINT = 0x2e;

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** Half the time of a TextDecoder that does the same. A byte order mark stays, and is no JSON. */
function textOf(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new EngineError('VAL-E002', 'the body is not UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

function isJson(type: string): boolean {
  if (type === 'application/json') return true;
  const end = type.indexOf(';');
  const media = (end < 0 ? type : type.slice(0, end)).trim().toLowerCase();
  return media === 'application/json' || media.endsWith('+json');
}

/** True when arrays and objects nest deeper than `levels`. */
export function tooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'object' && tooDeep(item, levels - 1)) return true;
    }
    return false;
  }
  for (const name in value) {
    const member: unknown = Reflect.get(value, name);
    if (typeof member === 'object' && tooDeep(member, levels - 1)) return true;
  }
  return false;
}
