// Limits the size of an answer. A grain can take a megabyte and an answer can hold hundreds, so a page ends when its room
// is used up and says so. Sizes are bytes of JSON, the form in which answers are sent.

import { ANSWER_BYTES_MAX } from '../../base/limits.ts';
import { textBytes as bytesOfText, textOfObject } from './json-text.ts';

/** Bytes of an answer's item besides the grain's fields: names, addresses, the score breakdown. */
const AROUND_BYTES = 1_024;

/** The longest number: a sign, `0.00000` and 17 digits, as in -0.0000010372669428697512. */
const NUMBER_BYTES_MAX = 25;

export class AnswerRoom {
  #left: number;
  #isEmpty = true;

  constructor(bytes: number = ANSWER_BYTES_MAX) {
    this.#left = bytes;
  }

  /** Reserves room for a value. False means that the caller must omit it; the first value always fits. */
  takes(value: unknown): boolean {
    return this.takesBytes(jsonBytes(value) + AROUND_BYTES);
  }

  /** True if all of these values fit for sure; reserves nothing. It reads no text, and so takes a fraction of `takes`. */
  holds(values: readonly unknown[]): boolean {
    let bytes = 0;
    for (const value of values) bytes += jsonBytesAtMost(value) + AROUND_BYTES;
    return bytes <= this.#left;
  }

  takesBytes(bytes: number): boolean {
    if (!this.#isEmpty && bytes > this.#left) return false;
    this.#isEmpty = false;
    this.#left -= bytes;
    return true;
  }
}

/** The parts of a grain's answer that can be large: its fields, and its further sources. */
export function partOfGrain({
  fields,
  sources,
}: {
  readonly fields: unknown;
  readonly sources?: readonly string[] | undefined;
}): unknown {
  return sources === undefined ? fields : [fields, sources];
}

/** The leading items that fit; the same list when all fit. */
export function withinRoom<T>(items: readonly T[], room: AnswerRoom, partOf: (item: T) => unknown): readonly T[] {
  const end = items.findIndex((item) => !room.takes(partOf(item)));
  return end < 0 ? items : items.slice(0, end);
}

/** The most bytes of JSON that a UTF-16 unit takes: a control character, as \u001f. */
const UNIT_BYTES_MAX = 6;

/** A number that `jsonBytes` does not exceed. */
export function jsonBytesAtMost(value: unknown): number {
  if (typeof value === 'string') return value.length * UNIT_BYTES_MAX + 2;
  if (typeof value !== 'object' || value === null) return NUMBER_BYTES_MAX;
  const text = textOfObject(value);
  if (text !== undefined) return bytesOfText(text);
  let bytes = 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) bytes += jsonBytesAtMost(value[i]) + 1;
    return bytes;
  }
  for (const name in value) bytes += name.length * UNIT_BYTES_MAX + 4 + jsonBytesAtMost(Reflect.get(value, name));
  return bytes;
}

/** Size of a value as JSON in bytes: exact for texts, an upper bound for numbers. */
export function jsonBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return textBytes(value);
    case 'number':
    case 'bigint':
      return NUMBER_BYTES_MAX;
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
  // Plain data inherits nothing, and Object.entries would double the time.
  for (const name in value) bytes += textBytes(name) + jsonBytes(Reflect.get(value, name)) + 2;
  return bytes;
}

/** Bytes of a JSON string with its quotes. Control characters take six bytes, quotes and backslashes two. */
function textBytes(text: string): number {
  let bytes = Buffer.byteLength(text) + 2;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20) bytes += 5;
    else if (unit === 0x22 || unit === 0x5c) bytes += 1;
  }
  return bytes;
}
