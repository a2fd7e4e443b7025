// Whether a request as it came asks for extraction. Then it is read on the main thread, which has the thread for that;
// every other add goes to its memory's worker unread. Both look at a few bytes and decode no grain.
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { AddOptions } from '../../gen/memory/v1/memory.ts';

/** A JSON body: what has the word elsewhere is read on the main thread too, which answers the same. */
export function jsonAsks(body: Uint8Array): boolean {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('extract_');
}

const ADD_OPTIONS = 3;
const BATCH_ITEMS = 1;

/** An AddRequest. Bytes that are none are left to the worker to refuse. */
export function addAsks(message: Uint8Array): boolean {
  return anyField(message, ADD_OPTIONS, (bytes) => {
    const { extractEventDate, extractMemories } = AddOptions.decode(bytes);
    return extractEventDate === true || extractMemories === true;
  });
}

/** A BatchAddRequest: one item that asks is enough. */
export function batchAsks(message: Uint8Array): boolean {
  return anyField(message, BATCH_ITEMS, addAsks);
}

function anyField(message: Uint8Array, wanted: number, asks: (bytes: Uint8Array) => boolean): boolean {
  try {
    const reader = new BinaryReader(message);
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag();
      if (field !== wanted || wire !== WireType.LengthDelimited) reader.skip(wire);
      else if (asks(reader.bytes())) return true;
    }
  } catch {
    return false;
  }
  return false;
}
