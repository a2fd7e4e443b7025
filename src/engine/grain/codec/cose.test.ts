import assert from 'node:assert/strict';
import { createPrivateKey, sign as cryptoSign, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { encode } from 'cborg';
import { addressOf } from '../address.ts';
import { decodeBase58, didOfKey, encodeBase58, keyOfDid } from '../did.ts';
import { GrainError } from '../error.ts';
import { mulberry } from '../random.fixture.ts';
import { decodeGrain, encodeGrain } from './blob.ts';
import { openEnvelope, readEnvelope, signBlob } from './cose.ts';

// RFC 8032, section 7.1, test 2.
const SEED = '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb';
const key = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${SEED}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
});
const DID = 'did:key:z6MkiaMbhXHNA4eJVCCj8dbzKzTgYDKf6crKgHVHid1F1WCT';
const ENVELOPE = [
  '84585ba3012703781a6170706c69636174696f6e2f766e642e6d672b6d73677061636b0458386469643a6b65793a7a36',
  '4d6b69614d626858484e4134654a5643436a3864627a4b7a546759444b663663724b674856486964314631574354a163',
  '6961741a6968baa058a0010102a4d26968baa086a461646964d9386469643a6b65793a7a364d6b68615867425a44766f',
  '74446b4c353235376661697a74694769433251744b4c4770626e6e4547746132646f4ba26361cf0000019bc1190100a7',
  '636f6e74656e74d923557365722061736b65642061626f7574206461726b206d6f64652073657474696e6773a2696dcb',
  '3fe0000000000000a26e73a6736861726564a174a56576656e74584047f1de6d665f09ba1598ded1ff4e0854987f5bd7',
  '1eac90f11f89413fc2f21e403b4adaa5f4dd17b7620462e5396086f01721d1e6768fecd008861e2f09eec00b',
].join('');
const FIELDS = {
  content: 'User asked about dark mode settings',
  created_at: 1768471200000,
  namespace: 'shared',
  author_did: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
  importance: 0.5,
};

test('signing gives the published example byte for byte', () => {
  const { blob, address } = encodeGrain('event', FIELDS, { signed: true });
  assert.equal(address, 'aed53ae47efb46bb8a8c3185d2dbc77eda7b9ec24d5a3b97970d667f00130e94');
  assert.equal(didOfKey(key), DID);
  assert.equal(signBlob(blob, { key, issuedAt: 1768471200 }).toString('hex'), ENVELOPE);
});

test('the published example opens, also when tagged, and its content decodes', () => {
  for (const hex of [ENVELOPE, `d2${ENVELOPE}`]) {
    const bytes = Buffer.from(hex, 'hex');
    const { blob, did, issuedAt } = openEnvelope(bytes, DID);
    assert.equal(did, DID);
    assert.equal(issuedAt, 1768471200);
    assert.equal(addressOf(blob), 'aed53ae47efb46bb8a8c3185d2dbc77eda7b9ec24d5a3b97970d667f00130e94');
    assert.deepEqual(decodeGrain(bytes).fields, FIELDS);
    assert.deepEqual(decodeGrain(bytes, { expectedAddress: addressOf(blob) }).fields, FIELDS);
  }
});

test('a signer written as text and algorithm -19 are accepted', () => {
  const { blob } = encodeGrain('event', FIELDS, { signed: true });
  const header = new Map<number, unknown>([
    [1, -19],
    [3, 'application/vnd.mg+msgpack'],
    [4, DID],
  ]);
  const protectedBytes = encode(header);
  // Signed by hand through a blob's own envelope: the same key over the other header.
  const own = signBlobWith(protectedBytes, blob);
  assert.equal(openEnvelope(own).did, DID);
});

test('an envelope that cannot be judged is refused', () => {
  const { blob } = encodeGrain('event', FIELDS, { signed: true });
  const header = (entries: [number, unknown][]): Buffer => signBlobWith(encode(new Map(entries)), blob);
  const full: [number, unknown][] = [
    [1, -8],
    [3, 'application/vnd.mg+msgpack'],
    [4, Buffer.from(DID)],
  ];
  assert.equal(openEnvelope(header(full)).did, DID);
  const refused = (bytes: Uint8Array, code: string): void => {
    assert.throws(() => openEnvelope(bytes), { code });
  };
  refused(header([[1, -7], ...full.slice(1)]), 'ERR_UNSUPPORTED');
  refused(header([[1, -257], ...full.slice(1)]), 'ERR_UNSUPPORTED');
  refused(header([...full.slice(0, 1), [2, [4]], ...full.slice(1)]), 'ERR_UNSUPPORTED');
  refused(header([full[0]!, [3, 'application/cbor'], full[2]!]), 'ERR_UNSUPPORTED');
  refused(header(full.slice(0, 2)), 'ERR_CORRUPT');
  refused(header([...full.slice(0, 2), [4, 'did:web:example.org']]), 'ERR_UNSUPPORTED');
  refused(header([...full.slice(0, 2), [4, 'someone']]), 'ERR_CORRUPT');
  refused(Buffer.concat([Buffer.from(ENVELOPE, 'hex'), Buffer.of(0)]), 'ERR_CORRUPT');
  assert.throws(() => openEnvelope(Buffer.from(ENVELOPE, 'hex'), `${DID}x`), { code: 'ERR_INTEGRITY' });
});

test('flag and envelope must agree', () => {
  const bare = encodeGrain('event', FIELDS);
  assert.throws(() => signBlob(bare.blob, { key, issuedAt: 1 }), { code: 'ERR_SIGNED_MISMATCH' });
  const protectedBytes = encode(
    new Map<number, unknown>([
      [1, -8],
      [3, 'application/vnd.mg+msgpack'],
      [4, Buffer.from(DID)],
    ]),
  );
  assert.throws(() => decodeGrain(signBlobWith(protectedBytes, bare.blob)), { code: 'ERR_SIGNED_MISMATCH' });
  const signed = encodeGrain('event', FIELDS, { signed: true });
  assert.throws(() => decodeGrain(signed.blob), { code: 'ERR_SIGNED_MISMATCH' });
});

test('a signature does not verify under another key', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { blob } = encodeGrain('event', FIELDS, { signed: true });
  const forged = signBlob(blob, { key: privateKey, issuedAt: 1, did: DID });
  assert.throws(() => openEnvelope(forged), { code: 'ERR_INTEGRITY' });
  assert.equal(readEnvelope(forged).verify(didOfKey(privateKey)), true);
});

test('no flipped bit and no truncation verifies, and only GrainError is thrown', () => {
  const bytes = Buffer.from(ENVELOPE, 'hex');
  const random = mulberry(7);
  const iatStart = bytes.indexOf(Buffer.from('696174', 'hex')) - 2;
  for (let i = 0; i < bytes.length; i++) {
    if (i >= iatStart && i < iatStart + 11) continue; // the unprotected map is outside the signature
    const flipped = Buffer.from(bytes);
    flipped[i]! ^= 1 << Math.floor(random() * 8);
    assert.throws(() => decodeGrain(flipped), GrainError);
    assert.throws(() => decodeGrain(bytes.subarray(0, i)), GrainError);
  }
});

test('nesting and declared sizes in an envelope are bounded', () => {
  const nested = Buffer.concat([Buffer.of(0x84, 0x40), Buffer.alloc(100_000, 0x81), Buffer.of(0)]);
  assert.throws(() => openEnvelope(nested), { code: 'ERR_CORRUPT' });
  const bomb = Buffer.from('845affffffff', 'hex');
  assert.throws(() => openEnvelope(bomb), { code: 'ERR_CORRUPT' });
  assert.throws(() => openEnvelope(Buffer.alloc(2 * 1_048_576, 0x84)), { code: 'ERR_TOO_LARGE' });
});

test('did:key contains exactly one Ed25519 key', () => {
  const raw = (...bytes: number[]): string => `did:key:z${encodeBase58(Uint8Array.from(bytes))}`;
  const code = (did: string): string | undefined => {
    try {
      keyOfDid(did);
      return undefined;
    } catch (error) {
      return (error as GrainError).code;
    }
  };
  const bytes = new Array<number>(32).fill(9);
  assert.equal(code(raw(0xed, 0x01, ...bytes)), undefined);
  assert.equal(code(raw(0xed, 0x01, ...bytes, 1)), 'ERR_CORRUPT');
  assert.equal(code(raw(0xed, 0x01, ...bytes.slice(1))), 'ERR_CORRUPT');
  assert.equal(code(raw(0xed, 0x81, 0x00, ...bytes)), 'ERR_CORRUPT', 'a varint in a longer form');
  assert.equal(code(raw(0x80, 0x24, 2, ...bytes)), 'ERR_UNSUPPORTED', 'P-256');
  assert.equal(code('did:key:z0OIl'), 'ERR_CORRUPT');
  assert.equal(code('did:key:f00'), 'ERR_CORRUPT');
  assert.equal(code(`did:key:z${'2'.repeat(1_000_000)}`), 'ERR_CORRUPT');
});

test('base58 keeps leading zeros', () => {
  for (const hex of ['', '00', '0000ff', 'ff00', '61', '000102030405060708'])
    assert.equal(decodeBase58(encodeBase58(Buffer.from(hex, 'hex')))?.toString('hex'), hex);
  assert.equal(encodeBase58(Buffer.from('Hello World!')), '2NEpo7TZRRrLZSi2U');
});

/** An envelope with any protected header, signed by the test key. */
function signBlobWith(protectedBytes: Uint8Array, blob: Uint8Array): Buffer {
  const toBeSigned = encode(['Signature1', protectedBytes, new Uint8Array(0), blob]);
  return Buffer.from(encode([protectedBytes, { iat: 1 }, blob, cryptoSign(null, toBeSigned, key)]));
}
