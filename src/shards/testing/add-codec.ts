// A codec for tests: an `add` as JSON bytes, answered by the address alone.
import { defineCodec } from '../codec.ts';
import type { AddItem } from '../protocol.ts';

export const ADD_CODEC = 9;

export const addCodec = defineCodec({
  method: 'add',
  decode: (bytes) => ({
    // What the tests send.
    input: { ...(JSON.parse(Buffer.from(bytes).toString()) as AddItem), sync: false },
  }),
  encode: (output) => Buffer.from(output.hash),
});
