// How much an answer may still take. Grains are up to a megabyte each and answers hold hundreds: a page ends where its room does,
// and says so. Bytes are counted as JSON writes them, which is what an answer is sent as.

import { ANSWER_BYTES_MAX } from '../../base/limits.ts';
import { textBytes as bytesOfText, textOfObject } from './json-text.ts';

/** What stands around a grain's fields in any answer: names, addresses, the account of a score. */
const AROUND_BYTES = 1_024;

export class AnswerRoom {
  #left: number;
  #isEmpty = true;

  constructor(bytes: number = ANSWER_BYTES_MAX) {
    this.#left = bytes;
  }

  /** Counts a value in, or says that there is no room: then it is to be left out. The first always has room. */
  takes(value: unknown): boolean {
    return this.takesBytes(jsonBytes(value) + AROUND_BYTES);
  }

  takesBytes(bytes: number): boolean {
    if (!this.#isEmpty && bytes > this.#left) return false;
    this.#isEmpty = false;
    this.#left -= bytes;
    return true;
  }
}

/** What an answer shows of a grain that may be large: its fields, and the further sources of a known one. */
export function partOfGrain({
  fields,
  sources,
}: {
  readonly fields: unknown;
  readonly sources?: readonly string[];
}): unknown {
  return sources === undefined ? fields : [fields, sources];
}

/** As many of the first as there is room for; the same list when that is all of them. */
export function withinRoom<T>(items: readonly T[], room: AnswerRoom, partOf: (item: T) => unknown): readonly T[] {
  const end = items.findIndex((item) => !room.takes(partOf(item)));
  return end < 0 ? items : items.slice(0, end);
}

/** Bytes of a value as JSON: exact for texts, at most for numbers. */
export function jsonBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return textBytes(value);
    case 'number':
    case 'bigint':
      return 24;
    case 'object':
      return value === null ? 4 : partsBytes(value);
    default:
      return 5;
  }
}

function partsBytes(value: object): number {
  const text = textOfObject(value);
  if (text !== undefined) return bytesOfText(text);
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) bytes += jsonBytes(item) + 1;
    return bytes;
  }
  // Plain data, so there is nothing to inherit; entries in a list would take as long again.
  for (const name in value) bytes += textBytes(name) + jsonBytes(Reflect.get(value, name)) + 2;
  return bytes;
}

/** With its quotes. Control characters take six bytes, quotes and backslashes two. */
function textBytes(text: string): number {
  let bytes = Buffer.byteLength(text) + 2;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20) bytes += 5;
    else if (unit === 0x22 || unit === 0x5c) bytes += 1;
  }
  return bytes;
}
