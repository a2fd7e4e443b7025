import assert from 'node:assert/strict';
import { createCipheriv, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { FrameOpener, FrameSealer } from './sealed.ts';

const KEY = randomBytes(32);

/** The frame of this number by the platform, whose nonce is the number. */
function wanted(number: number, plain: Buffer): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64LE(BigInt(number), 0);
  const cipher = createCipheriv('aes-256-gcm', KEY, nonce);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

test('each frame has the next nonce, in one turn of the event loop and over several', async () => {
  const sealer = new FrameSealer(KEY);
  const opener = new FrameOpener(KEY);
  let number = 0;
  for (const inOneTurn of [1, 3, 1, 1, 2]) {
    const frames = Array.from({ length: inOneTurn }, () => {
      const plain = randomBytes(number % 2 === 0 ? 100 : 20_000);
      const sealed = Buffer.concat(sealer.seal(plain.subarray(0, 40), plain.subarray(40)));
      assert.deepEqual(sealed, wanted(number, plain), `frame ${number}`);
      number += 1;
      return { plain, sealed };
    });
    // The other side reads them in turns of its own.
    for (const { plain, sealed } of frames) {
      assert.deepEqual(opener.open(sealed), plain);
      if (inOneTurn === 3) for (let i = 0; i < 3; i++) await turn();
    }
    for (let i = 0; i < 3; i++) await turn();
  }
  const again = Buffer.concat(sealer.seal(Buffer.alloc(10)));
  opener.open(again);
  assert.throws(() => opener.open(again), { code: 'CRY-E001' });
});
