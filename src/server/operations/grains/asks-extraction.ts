// Whether a request as it came asks for extraction. Then it is read on the main thread, which has the thread for that;
// every other add goes to its memory's worker unread. Both look at a few bytes and decode no grain: they stand before
// every add, so they are written out by hand (~0.3 µs; a reader's object alone takes several times that).
import { AddOptions } from '../../gen/memory/v1/memory.ts';

const WORD = Buffer.from('extract_');

/** A JSON body: what has the word elsewhere is read on the main thread too, which answers the same. */
export function jsonAsks(body: Uint8Array): boolean {
  return asBuffer(body).indexOf(WORD) !== -1;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const ADD_OPTIONS = 3;
const BATCH_ITEMS = 1;

/** An AddRequest. Bytes that are none are left to the worker to refuse. */
export function addAsks(message: Uint8Array): boolean {
  return anyField(message, { from: 0, to: message.length }, ADD_OPTIONS, optionsAsk);
}

/** A BatchAddRequest: one item that asks is enough. */
export function batchAsks(message: Uint8Array): boolean {
  return anyField(message, { from: 0, to: message.length }, BATCH_ITEMS, (bytes, item) =>
    anyField(bytes, item, ADD_OPTIONS, optionsAsk),
  );
}

interface Stretch {
  readonly from: number;
  readonly to: number;
}

type Asks = (message: Uint8Array, stretch: Stretch) => boolean;

function optionsAsk(message: Uint8Array, { from, to }: Stretch): boolean {
  try {
    const { extractEventDate, extractMemories } = AddOptions.decode(message.subarray(from, to));
    return extractEventDate === true || extractMemories === true;
  } catch {
    return false;
  }
}

const VARINT = 0;
const FIXED_64 = 1;
const DELIMITED = 2;
const FIXED_32 = 5;

/** True when one of the length-delimited fields with the number `wanted` asks. */
function anyField(message: Uint8Array, { from, to }: Stretch, wanted: number, asks: Asks): boolean {
  let at = from;
  /** A varint below 2^28, as lengths and tags are here; more of it is passed over. */
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; at < to; shift += 7) {
      const byte = message[at++]!;
      if (shift < 28) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < to) {
    const tag = varint();
    const wire = tag & 7;
    if (wire === VARINT) varint();
    else if (wire === FIXED_64) at += 8;
    else if (wire === FIXED_32) at += 4;
    else if (wire === DELIMITED) {
      const length = varint();
      const end = at + length;
      if (end > to) return false;
      if (tag >>> 3 === wanted && asks(message, { from: at, to: end })) return true;
      at = end;
    } else return false;
  }
  return false;
}
