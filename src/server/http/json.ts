// Request bodies as JSON. Strict where leniency would let two readers see different documents: bytes must be valid
// UTF-8 without a byte order mark, and members, nesting and digits are bounded. Of repeated members the last wins, as
// in JSON.parse and as the contract's clients expect; detecting them would need a second parser on the busiest path.
import { isUtf8 } from 'node:buffer';
import { EngineError } from '../../engine/base/errors.ts';
import { JSON_DEPTH_MAX } from '../../engine/base/limits.ts';
import { parseJson as parseExactly } from '../../engine/grain/api/json.ts';
import { checkJsonBounds } from '../../engine/grain/api/json-bounds.ts';
import type { HttpRequest } from './listener.ts';

/**
 * The bytes of a JSON body. Rejects with LIM-E003 over `bytesMax`, and with VAL-E006 for another or missing content
 * type, or a compressed body. Requiring the type keeps out forms and simple requests of other pages.
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

/** Compressed bodies are not supported. Throws VAL-E006 for one. */
export function checkEncoding(encoding: string): void {
  if (encoding !== '' && encoding.trim().toLowerCase() !== 'identity')
    throw new EngineError('VAL-E006', `unsupported content encoding ${encoding}`);
}

/** A body as a value; undefined when it is empty. Throws like `parseJson`. */
export function parseBody(bytes: Uint8Array): unknown {
  return bytes.byteLength === 0 ? undefined : parseJson(bytes);
}

/**
 * Parses JSON, large integers as `bigint`. Throws VAL-E002 for invalid JSON, VAL-E001 for too many members, too deep
 * nesting or a number with too many digits.
 */
export function parseJson(bytes: Uint8Array): unknown {
  checkJsonBounds(bytes);
  let value: unknown;
  try {
    const text = textOf(bytes);
    value = holdsLongInteger(bytes) ? parseExactly(text) : JSON.parse(text);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    // The message of a syntax error quotes only a few characters of the body.
    throw new EngineError('VAL-E002', `the body is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
  if (tooDeep(value, JSON_DEPTH_MAX)) {
    throw new EngineError('VAL-E001', `the body is nested deeper than ${JSON_DEPTH_MAX} levels`);
  }
  return value;
}

/**
 * True when sixteen digits in a row occur, not after a decimal point: every integer beyond 2^53 has that many. It looks
 * at one byte in sixteen, which takes a thirtieth of parsing; a regular expression would take a third.
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

/** Takes half the time of an equivalent TextDecoder. A byte order mark stays, and is invalid JSON. */
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
