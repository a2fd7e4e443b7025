import assert from 'node:assert/strict';
import crypto, { createCipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { GCM_CIPHERS_MAX } from '../base/limits.ts';
import { type WasmMemory, wasm } from '../base/wasm.ts';
import { BODY_BYTES_MAX, NONCE_BYTES, openOne, sealBatch, TAG_BYTES } from './gcm-batch.ts';

/** The memories of the kernels in this process. */
const memories: WasmMemory[] = [];
Object.assign(wasm, {
  Memory: class extends wasm.Memory {
    constructor(size: { initial: number; maximum: number }) {
      super(size);
      memories.push(this);
    }
  },
});

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** The platform's nonce ‖ ciphertext ‖ tag. */
function platform(key: Uint8Array, nonce: Uint8Array, additional: Uint8Array, body: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(additional);
  const sealed = cipher.update(body);
  cipher.final();
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]);
}

interface Message {
  readonly nonce: Uint8Array;
  readonly additional: Uint8Array;
  readonly body: Uint8Array;
}

/** Seals messages of equally long additional data. Checks that the bytes before and behind each one stay. */
function sealedTogether(key: KeyObject, messages: readonly Message[]): Buffer[] {
  const additionalBytes = messages[0]!.additional.length;
  const at = 3 + additionalBytes;
  const into = messages.map(({ nonce, additional, body }) => {
    assert.equal(additional.length, additionalBytes);
    const bytes = Buffer.alloc(at + NONCE_BYTES + body.length + TAG_BYTES + 5, 0xee);
    bytes.set(additional, 3);
    bytes.set(nonce, at);
    return bytes;
  });
  sealBatch(key, { into, bodies: messages.map(({ body }) => Buffer.from(body)), additionalAt: 3, at });
  return into.map((bytes) => {
    assert.deepEqual(bytes.subarray(0, 3), Buffer.alloc(3, 0xee));
    assert.deepEqual(bytes.subarray(bytes.length - 5), Buffer.alloc(5, 0xee));
    return bytes.subarray(at, bytes.length - 5);
  });
}

// Cases 13 to 16 of "The Galois/Counter Mode of Operation (GCM)", McGrew and Viega, appendix B.
const KEY = 'feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308';
const NONCE = 'cafebabefacedbaddecaf888';
const BODY =
  'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255';
const CIPHERTEXT =
  '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad';
const CASES = [
  ['00'.repeat(32), '00'.repeat(12), '', '', '', '530f8afbc74536b9a963b4f1c4cb738b'],
  [
    '00'.repeat(32),
    '00'.repeat(12),
    '',
    '00'.repeat(16),
    'cea7403d4d606b6e074ec5d3baf39d18',
    'd0d1c8a799996bf0265b98b5d48ab919',
  ],
  [KEY, NONCE, '', BODY, CIPHERTEXT, 'b094dac5d93471bdec1a502270e3cc6c'],
  [
    KEY,
    NONCE,
    'feedfacedeadbeeffeedfacedeadbeefabaddad2',
    BODY.slice(0, 120),
    CIPHERTEXT.slice(0, 120),
    '76fc6ece0f4e1768cddf8853bb2d551b',
  ],
] as const;

for (const [i, [key, nonce, additional, body, ciphertext, tag]] of CASES.entries()) {
  test(`case ${i + 13} of the specification is sealed and opened`, () => {
    const message = { nonce: hex(nonce), additional: hex(additional), body: hex(body) };
    const [sealed] = sealedTogether(createSecretKey(hex(key)), [message]);
    assert.equal(sealed?.toString('hex'), nonce + ciphertext + tag);
    const opened = openOne(createSecretKey(hex(key)), hex(nonce + ciphertext + tag), hex(additional));
    assert.equal(opened?.toString('hex'), body);
  });
}

test('any messages under any key are sealed as the platform seals them, and opened', () => {
  const bytes = (most: number) => fc.uint8Array({ maxLength: most, size: 'max' });
  const exactly = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const messages = fc.nat({ max: 100 }).chain((additionalBytes) =>
    fc.array(
      fc.record({
        nonce: exactly(NONCE_BYTES),
        additional: exactly(additionalBytes),
        body: fc.oneof(bytes(40), bytes(400), bytes(BODY_BYTES_MAX)),
      }),
      { minLength: 1, maxLength: 20 },
    ),
  );
  fc.assert(
    fc.property(exactly(32), messages, (raw, all) => {
      const secret = createSecretKey(raw);
      const together = sealedTogether(secret, all);
      for (const [i, { nonce, additional, body }] of all.entries()) {
        const sealed = platform(raw, nonce, additional, body);
        assert.deepEqual(together[i], sealed);
        assert.deepEqual(openOne(secret, sealed, additional), Buffer.from(body));
      }
    }),
    { numRuns: runs(60) },
  );
});

test('more messages than fit the memory at once are sealed in several calls', () => {
  const raw = randomBytes(32);
  const messages = Array.from({ length: 700 }, (_, i) => ({
    nonce: randomBytes(NONCE_BYTES),
    additional: randomBytes(32),
    body: randomBytes(i % 3 === 0 ? BODY_BYTES_MAX : i),
  }));
  const together = sealedTogether(createSecretKey(raw), messages);
  for (const [i, { nonce, additional, body }] of messages.entries())
    assert.deepEqual(together[i], platform(raw, nonce, additional, body), `message ${i}`);
});

test('a changed bit anywhere, and other additional data, do not open', () => {
  const key = createSecretKey(randomBytes(32));
  const message = { nonce: randomBytes(NONCE_BYTES), additional: Buffer.from('row 7'), body: randomBytes(37) };
  const sealed = sealedTogether(key, [message])[0]!;
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(openOne(key, changed, Buffer.from('row 7')), undefined, `bit ${bit}`);
  }
  assert.equal(openOne(key, sealed, Buffer.from('row 8')), undefined);
  assert.deepEqual(openOne(key, sealed, Buffer.from('row 7')), message.body);
});

test('nothing of a key, a text or its key stream stays in the memory of the kernel, also after a failure', () => {
  const isEmpty = (): boolean => memories.every(({ buffer }) => Buffer.from(buffer).every((byte) => byte === 0));
  const key = createSecretKey(randomBytes(32));
  const messages = Array.from({ length: 300 }, (_, i) => ({
    nonce: randomBytes(NONCE_BYTES),
    additional: randomBytes(32),
    body: randomBytes(i * 3),
  }));
  const sealed = sealedTogether(key, messages);
  assert.equal(memories.length, 1);
  assert.ok(isEmpty(), 'after sealing');
  assert.deepEqual(openOne(key, sealed[200]!, messages[200]!.additional), messages[200]!.body);
  assert.ok(isEmpty(), 'after opening');
  assert.equal(openOne(key, sealed[200]!, messages[201]!.additional), undefined);
  assert.ok(isEmpty(), 'after a refusal');
  const short = createSecretKey(randomBytes(16));
  assert.throws(() => openOne(short, sealed[200]!, messages[200]!.additional), /key length/i);
  assert.ok(isEmpty(), 'after a key that is none');
  const tooLarge = [messages[7]!, { ...messages[8]!, body: randomBytes(BODY_BYTES_MAX + 1) }];
  assert.throws(() => sealedTogether(key, tooLarge), { name: 'AssertionError' });
  assert.ok(isEmpty(), 'after a message that does not fit');
  assert.deepEqual(sealedTogether(key, messages.slice(0, 2)), sealed.slice(0, 2));
});

test('the AES objects of keys in use are kept, and those of many other keys are not', (t) => {
  const makes = t.mock.method(crypto, 'createCipheriv');
  syncBuiltinESMExports();
  t.after(() => {
    makes.mock.restore();
    syncBuiltinESMExports();
  });
  const keys = Array.from({ length: 3 * GCM_CIPHERS_MAX }, () => createSecretKey(randomBytes(32)));
  const nothing = Buffer.alloc(NONCE_BYTES + TAG_BYTES);
  /** How many objects a look with the key makes. */
  const made = (key: KeyObject): number => {
    const before = makes.mock.callCount();
    assert.equal(openOne(key, nothing, Buffer.alloc(0)), undefined);
    return makes.mock.callCount() - before;
  };
  const [used] = keys;
  for (const [i, key] of keys.entries()) {
    assert.equal(made(key), 1);
    if (i % 100 === 0) assert.equal(made(used!), 0, `in use, after ${i} others`);
  }
  assert.equal(made(keys.at(-1)!), 0);
  assert.equal(made(keys[1]!), 1, 'two generations later');
});
