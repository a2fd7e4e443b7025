// Whether a request as it came asks for extraction or relations. Then it is read on the main thread, which has what both want;
// every other add goes to its memory's worker unread. Both look at a few bytes and decode no grain: they stand before
// every add.
import { REQUEST_MEMBERS_MAX } from '../../../engine/base/limits.ts';
import { AddOptions } from '../../gen/memory/v1/memory.ts';
import { type FieldsLeft, type Stretch, someField } from '../grains/wire-fields.ts';

const WORDS = [Buffer.from('extract_'), Buffer.from('auto_relate')];

/** A JSON body: what has the word elsewhere is read on the main thread too, which answers the same. */
export function jsonAsks(body: Uint8Array): boolean {
  const bytes = asBuffer(body);
  return WORDS.some((word) => bytes.indexOf(word) !== -1);
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
  const left: FieldsLeft = { count: REQUEST_MEMBERS_MAX };
  const itemAsks: Asks = (bytes, item) => anyField(bytes, item, ADD_OPTIONS, optionsAsk, left);
  return anyField(message, { from: 0, to: message.length }, BATCH_ITEMS, itemAsks, left);
}

type Asks = (message: Uint8Array, stretch: Stretch) => boolean;

function optionsAsk(message: Uint8Array, { from, to }: Stretch): boolean {
  try {
    const { extractEventDate, extractMemories, autoRelate } = AddOptions.decode(message.subarray(from, to));
    return extractEventDate === true || extractMemories === true || autoRelate === true;
  } catch {
    return false;
  }
}

/** True when one of the fields with the number `wanted` asks. */
function anyField(message: Uint8Array, stretch: Stretch, wanted: number, asks: Asks, left?: FieldsLeft): boolean {
  return someField(message, stretch, (number, field) => number === wanted && asks(message, field), left);
}
