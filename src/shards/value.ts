// A value, give me its bytes, and back, for messages between threads.
//
// MessagePack (msgpackr) carries nearly everything. What it would change on the way travels in V8's own structured
// clone format instead, which is exact and two to five times dearer: negative zero (MessagePack by msgpackr writes 0),
// a key named `__proto__` (its reader renames it), a string with a lone surrogate (not UTF-8). All three can come out
// of a caller's JSON, and must reach validation as they are. Looking for them costs a fifth of the packing.
// Records are off: between threads they would have to be defined anew in each message, and their tables take a
// caller's key for their own bookkeeping (`__keys__`).
import { deserialize, serialize } from 'node:v8';
import { Packr } from 'msgpackr';

/** How bytes are to be read; the number is what stands in a message. */
export const FORM_MESSAGEPACK = 0;
export const FORM_EXACT = 1;
export type ValueForm = typeof FORM_MESSAGEPACK | typeof FORM_EXACT;

export interface PackedValue {
  readonly form: ValueForm;
  /** Valid until the next `packValue`: copy it. */
  readonly bytes: Uint8Array;
}

const packr = new Packr({ useRecords: false, variableMapSize: true, useToJSON: false, useBigIntExtension: true });

/** Bytes of plain data: JSON's types, bigint, undefined and Uint8Array. */
export function packValue(value: unknown): PackedValue {
  return needsExact(value)
    ? { form: FORM_EXACT, bytes: serialize(value) }
    : { form: FORM_MESSAGEPACK, bytes: packr.pack(value) };
}

/** The value of `packValue`. Byte arrays in it may be views of `bytes`. */
export function unpackValue(form: ValueForm, bytes: Uint8Array): unknown {
  return form === FORM_EXACT ? deserialize(bytes) : packr.unpack(bytes);
}

function needsExact(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return !value.isWellFormed();
    case 'number':
      return Object.is(value, -0);
    case 'object':
      return value !== null && !(value instanceof Uint8Array) && partNeedsExact(value);
    default:
      return false;
  }
}

function partNeedsExact(value: object): boolean {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (needsExact(value[i])) return true;
    return false;
  }
  for (const key in value) {
    // `value` is plain data, so its members may be read by name.
    if (key === '__proto__' || !key.isWellFormed() || needsExact((value as Record<string, unknown>)[key])) return true;
  }
  return false;
}
