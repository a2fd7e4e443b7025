// Headers as received: names and values in turn. Parsers join or drop repeated headers, each in its own way; headers
// that decide about identity and rights are therefore read from this list.
import { EngineError } from '../../engine/base/errors.ts';

/** The value of the first header with this lower-case name. */
export function firstHeader(list: readonly string[], name: string): string | undefined {
  const at = indexOf(list, name, 0);
  return at < 0 ? undefined : list[at + 1];
}

/**
 * A header that must not repeat. Throws VAL-E001 when it does: a proxy in front of this server may have checked another
 * of the values.
 */
export function onlyHeader(list: readonly string[], name: string): string | undefined {
  const at = indexOf(list, name, 0);
  if (at < 0) return undefined;
  if (indexOf(list, name, at + 2) >= 0)
    throw new EngineError('VAL-E001', `${name} was sent more than once: send it once`);
  return list[at + 1];
}

/** The values of every header with this lower-case name, in order and joined by commas; undefined without one. */
export function joinedHeader(list: readonly string[], name: string): string | undefined {
  let joined: string | undefined;
  for (let at = indexOf(list, name, 0); at >= 0; at = indexOf(list, name, at + 2))
    joined = joined === undefined ? list[at + 1] : `${joined}, ${list[at + 1]}`;
  return joined;
}

function indexOf(list: readonly string[], name: string, from: number): number {
  for (let at = from; at < list.length; at += 2) {
    const given = list[at]!;
    if (given === name || (given.length === name.length && given.toLowerCase() === name)) return at;
  }
  return -1;
}
