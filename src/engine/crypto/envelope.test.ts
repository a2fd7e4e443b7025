import assert from 'node:assert/strict';
import { createDecipheriv, createHash, createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { EngineError } from '../base/errors.ts';
import { deriveBlindKey, deriveGrainKey, hkdf } from './derive.ts';
import { open, SEAL_BYTES, seal, sealAll, sealKey, sealWith } from './envelope.ts';

/** `count` ascending bytes from `first`, the form of the keys in the published examples. */
function ascending(first: number, count = 32): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, i) => first + i));
}
const userKey = ascending(0x00);
const memoryKey = ascending(0x20);
const scopeKey = ascending(0x40);

const VECTOR_1 = Buffer.from(
  '010001a4d26968baa089a461646964d9386469643a6b65793a7a364d6b68615867425a44766f74446b4c353235376661' +
    '697a74694769433251744b4c4770626e6e4547746132646f4ba163cb3feccccccccccccda26361cf0000019bc1190100' +
    'a26e73a6736861726564a16fa96461726b206d6f6465a172a770726566657273a173a475736572a27374ad757365725f' +
    '6578706c69636974a174a466616374',
  'hex',
);
const VECTOR_1_ADDRESS = '3288d0d41cf49a1d428e404f0b6a6fe60388be9536937557f6139b813d53a520';

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const cryptoFailure = (error: unknown): boolean => error instanceof EngineError && error.code === 'CRY-E001';

test('grain keys and blind keys equal those of the published examples', () => {
  assert.equal(
    deriveGrainKey(userKey, new Uint8Array(0)).toString('hex'),
    '0624b21273baa0e0f37679cb908500eda26ab82e2b437d0d6616cc9438328ca5',
  );
  assert.equal(
    deriveGrainKey(userKey, scopeKey).toString('hex'),
    '668c672978f813ab433b7b8cd22c88fdc89c188db075ae7ae31a588287d07371',
  );
  assert.equal(
    deriveBlindKey(memoryKey, 'entity').toString('hex'),
    '571234aefe5ab4308417a58377eddc36321e6e0e0aa46bb639c7cef1e6e29ba0',
  );
});

test('the sealed record of vector 1 equals the published example', () => {
  assert.equal(sha256(VECTOR_1), VECTOR_1_ADDRESS);
  const key = deriveGrainKey(userKey, new Uint8Array(0));
  const sealed = sealWith(ascending(0, 12), key, VECTOR_1, Buffer.from(VECTOR_1_ADDRESS, 'hex'));
  assert.equal(sealed.length, 187);
  assert.equal(sealed.subarray(0, 28).toString('hex'), '000102030405060708090a0b455bb45375dc6a01de9021126e721223');
  assert.equal(sealed.subarray(-16).toString('hex'), 'fcf4f1060fccb5f9faf14b77761ec37c');
  assert.equal(sha256(sealed), 'f459055763f2d0a1f34e0633e147294c46437bf818bb92de0219d607cee16182');
  assert.deepEqual(open(key, sealed, Buffer.from(VECTOR_1_ADDRESS, 'hex')), VECTOR_1);
});

test('hkdf gives the first case of RFC 5869, truncated to 32 bytes', () => {
  const okm = hkdf(Buffer.alloc(22, 0x0b), ascending(0, 13), ascending(0xf0, 10));
  assert.equal(okm.toString('hex'), '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf');
});

test('sealed bytes open again, under a raw key and under a KeyObject', () => {
  const bytes = fc.uint8Array({ maxLength: 2_000 });
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(key, bytes, bytes, (raw, plaintext, aad) => {
      const sealed = seal(createSecretKey(raw), plaintext, aad);
      assert.equal(sealed.length, plaintext.length + SEAL_BYTES);
      assert.deepEqual(open(raw, sealed, aad), Buffer.from(plaintext));
      assert.deepEqual(open(sealKey(raw), seal(raw, plaintext, aad), aad), Buffer.from(plaintext));
    }),
    { numRuns: runs(50) },
  );
});

test('texts of all lengths that are sealed together are opened by the platform, each under a nonce of its own', () => {
  const raw = randomBytes(32);
  const lengths = [0, 1, 15, 16, 17, 511, 1_023, 1_024, 1_025, 70_000, 2 * 1_048_576 + 3];
  for (let i = 0; i < 600; i++) lengths.push((i * 37) % 1_100);
  const bodies = lengths.map((length) => randomBytes(length));
  const [additionalAt, at] = [5, 5 + 32];
  const into = bodies.map(({ length }) => randomBytes(at + length + SEAL_BYTES));
  const heads = into.map((bytes) => Buffer.from(bytes.subarray(0, at)));
  sealAll(createSecretKey(raw), { into, bodies, additionalAt, at });
  const nonces = new Set<string>();
  for (const [i, bytes] of into.entries()) {
    assert.deepEqual(bytes.subarray(0, at), heads[i], 'what stands before stays');
    const nonce = bytes.subarray(at, at + 12);
    nonces.add(nonce.toString('hex'));
    const decipher = createDecipheriv('aes-256-gcm', raw, nonce, { authTagLength: 16 });
    decipher.setAAD(bytes.subarray(additionalAt, at));
    decipher.setAuthTag(bytes.subarray(-16));
    const opened = Buffer.concat([decipher.update(bytes.subarray(at + 12, -16)), decipher.final()]);
    assert.ok(opened.equals(bodies[i]!), `${lengths[i]} bytes`);
    assert.ok(open(createSecretKey(raw), bytes.subarray(at), bytes.subarray(additionalAt, at)).equals(opened));
  }
  assert.equal(nonces.size, bodies.length);
});

test('a changed byte anywhere, another key, another place or a truncated end is CRY-E001', () => {
  const aad = Buffer.from('row 7');
  const sealed = seal(userKey, Buffer.from('the text'), aad);
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed[i]! ^= 1;
    assert.throws(() => open(userKey, changed, aad), cryptoFailure, `byte ${i}`);
  }
  assert.throws(() => open(memoryKey, sealed, aad), cryptoFailure);
  assert.throws(() => open(userKey, sealed, Buffer.from('row 8')), cryptoFailure);
  for (let length = 0; length < sealed.length; length++)
    assert.throws(() => open(userKey, sealed.subarray(0, length), aad), cryptoFailure, `${length} bytes`);
});

test('no nonce repeats over more than one filling of the pool', () => {
  const nonces = new Set<string>();
  const count = 3 * Math.ceil(65_536 / 12);
  for (let i = 0; i < count; i++)
    nonces.add(seal(userKey, new Uint8Array(0), new Uint8Array(0)).toString('latin1', 0, 12));
  assert.equal(nonces.size, count);
});

test('a key of another length is a bug, not an input error', () => {
  assert.throws(() => seal(Buffer.alloc(16), Buffer.alloc(1), Buffer.alloc(0)), { name: 'AssertionError' });
});
