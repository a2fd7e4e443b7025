// Headers as they came: names and values in turn. Parsers join or drop headers that came twice, each in its own way; what
// decides who asks, and for whom, is therefore read from this list.
import { EngineError } from '../../engine/base/errors.ts';

/** The value of the first header with this lower-case name. */
export function firstHeader(list: readonly string[], name: string): string | undefined {
  const at = indexOf(list, name, 0);
  return at < 0 ? undefined : list[at + 1];
}

/**
 * The value of a header that may come once. Throws VAL-E001 when it came more often: a proxy in front of this server may
 * have checked another one of them than this server would take.
 */
export function onlyHeader(list: readonly string[], name: string): string | undefined {
  const at = indexOf(list, name, 0);
  if (at < 0) return undefined;
  if (indexOf(list, name, at + 2) >= 0) throw new EngineError('VAL-E001', `${name} came more than once`);
  return list[at + 1];
}

function indexOf(list: readonly string[], name: string, from: number): number {
  for (let at = from; at < list.length; at += 2) {
    const given = list[at]!;
    if (given === name || (given.length === name.length && given.toLowerCase() === name)) return at;
  }
  return -1;
}
