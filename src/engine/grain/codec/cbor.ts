// The subset of CBOR that signed envelopes need: find the end of an item, checked before decoding, and read a map.
import { decode } from 'cborg';
import { refuse } from '../error.ts';

const DEPTH_MAX = 16;

interface Head {
  readonly major: number;
  readonly argument: number;
  readonly next: number;
}

/** The head of the item at `at`; undefined if it is truncated, indefinite, reserved or not in its shortest form. */
export function readHead(bytes: Uint8Array, at: number, end: number): Head | undefined {
  if (at >= end) return undefined;
  const major = bytes[at]! >> 5;
  const low = bytes[at]! & 0x1f;
  if (low < 24) return { major, argument: low, next: at + 1 };
  if (low > 27) return undefined;
  const width = 1 << (low - 24);
  if (at + 1 + width > end) return undefined;
  let argument = 0;
  for (let i = 1; i <= width; i++) argument = argument * 256 + bytes[at + i]!;
  const least = [24, 0x100, 0x10000, 0x100000000][low - 24]!;
  if (major !== 7 && argument < least) return undefined;
  return { major, argument, next: at + 1 + width };
}

/** End of the item at `start`, or -1 if it is malformed, truncated or nested too deep. Never recurses. */
export function endOfItem(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  const left = [1]; // remaining items at each level
  while (left.length > 0) {
    const level = left.length - 1;
    if (left[level] === 0) {
      left.pop();
      continue;
    }
    left[level]!--;
    const head = readHead(bytes, at, end);
    if (head === undefined) return -1;
    at = head.next;
    let inside = 0;
    if (head.major === 2 || head.major === 3) at += head.argument;
    else if (head.major === 4) inside = head.argument;
    else if (head.major === 5) inside = head.argument * 2;
    else if (head.major === 6) inside = 1;
    if (at > end || inside > end - at || left.length > DEPTH_MAX) return -1;
    if (inside > 0) left.push(inside);
  }
  return at;
}

/** Reads `bytes` as exactly one map. Throws ERR_CORRUPT otherwise, and for indefinite or longer than shortest forms. */
export function decodeMap(bytes: Uint8Array): ReadonlyMap<unknown, unknown> {
  if (endOfItem(bytes, 0, bytes.length) !== bytes.length) refuse('ERR_CORRUPT', 'envelope is not CBOR');
  try {
    const options = { useMaps: true, strict: true, allowIndefinite: false, rejectDuplicateMapKeys: true };
    const map: unknown = decode(bytes, options);
    if (map instanceof Map) return map;
  } catch {
    // Fall through: the sender's bytes cause every error of the library.
  }
  return refuse('ERR_CORRUPT', 'envelope header is not a map');
}
