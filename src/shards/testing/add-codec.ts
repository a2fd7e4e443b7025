// Codecs for tests: an `add` as JSON bytes, answered with the grain's address, and a read whose answer cannot be encoded.

import type { AddItem, Output } from '../protocol.ts';
import type { ShardCodec } from '../transport/codec.ts';

export const ADD_CODEC = 9;
export const MUTE_CODEC = 12;

export const addCodec: ShardCodec = {
  decode: (bytes) => ({
    // the tests send only such items
    call: { method: 'add', input: { ...(JSON.parse(Buffer.from(bytes).toString()) as AddItem), sync: false } },
    encode: (output) => {
      const { hash, warnings } = output as Output<'add'>; // of the method above
      return { bytes: Buffer.from(hash), notes: warnings.join() };
    },
  }),
};

export const muteCodec: ShardCodec = {
  reads: true,
  decode: () => ({
    call: { method: 'locate', input: { hashes: [] } },
    encode: () => {
      throw new TypeError('a bug on purpose');
    },
  }),
};
