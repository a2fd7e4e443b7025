import assert from 'node:assert/strict';
import { createHash, createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { GrainError } from '../error.ts';
import type { Address } from '../grain.ts';
import { mulberry } from '../random.fixture.ts';
import { encodeGrain } from './blob.ts';
import { readAnyContainer, readContainer, readImport } from './container.ts';
import { ContainerWriter, writeContainer } from './container-writer.ts';
import { signBlob } from './cose.ts';
import type { GrainStatus } from './manifest.ts';

const T = 1768471200000;
const VECTOR = encodeGrain('fact', {
  subject: 'user',
  relation: 'prefers',
  object: 'dark mode',
  confidence: 0.9,
  source_type: 'user_explicit',
  created_at: T,
  namespace: 'shared',
  author_did: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
});
const grains = Array.from({ length: 5 }, (_, i) =>
  encodeGrain('event', { content: `turn ${i}`, created_at: T + i * 1000, namespace: 'shared' }),
);
const blobs = grains.map(({ blob }) => blob);
const PLAIN = { sorted: true, deduplicated: true };

function manifestOf(...entries: [Address, GrainStatus][]): Map<Address, GrainStatus> {
  return new Map(entries);
}

/** The file with a corrected footer. */
function sealed(bytes: Uint8Array): Buffer {
  const body = bytes.subarray(0, bytes.length - 32);
  return Buffer.concat([body, createHash('sha256').update(body).digest()]);
}

function changed(file: Uint8Array, change: (bytes: Buffer) => void): Buffer {
  const copy = Buffer.from(file);
  change(copy);
  return sealed(copy);
}

function refused(bytes: Uint8Array, code: string): void {
  assert.throws(
    () => readContainer(bytes),
    (error) => error instanceof GrainError && error.code === code,
    code,
  );
}

test('an empty file equals the published one', () => {
  const file = writeContainer([], { sorted: false, deduplicated: false });
  assert.equal(
    file.toString('hex'),
    '4d470100000000000100000000000000f018adaa915446d69fd3c4b0e264db9a32172dd82efb4066bd8351c6f3b05c34',
  );
  assert.deepEqual(readContainer(file), { grains: [], manifest: new Map(), warnings: [] });
});

test('one grain, without and with a manifest, gives the published files', () => {
  const plain = writeContainer([VECTOR.blob], PLAIN);
  assert.equal(plain.length, 211);
  assert.equal(plain.subarray(0, 20).toString('hex'), '4d47010300000001010000000000000000000014');
  assert.equal(plain.subarray(-32).toString('hex'), '270c934c265830db609269860babc2b146616966ceab87b5995fde5b7d6bb02a');
  const manifest = manifestOf([VECTOR.address, { verificationStatus: 'verified' }]);
  const file = writeContainer([VECTOR.blob], { ...PLAIN, manifest });
  assert.equal(file.length, 296);
  assert.equal(file.subarray(0, 20).toString('hex'), '4d47011300000001010000000000000000000014');
  assert.equal(
    file.subarray(179, -32).toString('hex'),
    '81d940333238386430643431636634396131643432386534303466306236613666653630333838626539353336393337' +
      '3535376636313339623831336435336135323081a776737461747573a87665726966696564',
  );
  assert.equal(file.subarray(-32).toString('hex'), 'f2cc962c2303b8cbd09b2ed7ac0c758ba55115cb4072c180c5e691610617aa99');
  const read = readContainer(file);
  assert.deepEqual(
    read.grains.map(({ address }) => address),
    [VECTOR.address],
  );
  assert.deepEqual(read.manifest, manifest);
});

test('a file that is written as a stream reads back', () => {
  const manifest = manifestOf(
    [grains[3]!.address, { supersededBy: grains[4]!.address, systemValidTo: T + 9, accessCount: 3, lastAccessedAt: T }],
    [grains[0]!.address, { verificationStatus: 'contested' }],
    [grains[1]!.address, { verificationStatus: 'unverified', accessCount: 0 }],
  );
  const writer = new ContainerWriter({ ...PLAIN, lengths: Uint32Array.from(blobs, (blob) => blob.length), manifest });
  const file = Buffer.concat([...writer.begin(), ...blobs.map((blob) => writer.add(blob)), ...writer.end()]);
  const read = readContainer(file);
  assert.deepEqual(
    read.grains.map(({ blob }) => blob),
    blobs,
  );
  assert.equal(read.manifest.size, 2, 'empty members are left out');
  assert.deepEqual(read.manifest.get(grains[3]!.address), manifest.get(grains[3]!.address));
  assert.deepEqual(read.warnings, []);
});

test('a writer requires the announced lengths from its caller', () => {
  const writer = new ContainerWriter({ ...PLAIN, lengths: Uint32Array.of(10) });
  assert.throws(() => writer.add(Buffer.alloc(11)), { name: 'AssertionError' });
  assert.throws(() => [...writer.end()], { name: 'AssertionError' });
  assert.throws(() => new ContainerWriter({ ...PLAIN, lengths: Uint32Array.of(0xffffffff) }), {
    code: 'ERR_TOO_LARGE',
  });
});

test('offsets may count from the grain region', () => {
  const file = writeContainer(blobs, PLAIN);
  const start = file.readUInt32BE(16);
  const relative = changed(file, (bytes) => {
    for (let i = 0; i < blobs.length; i++) bytes.writeUInt32BE(bytes.readUInt32BE(16 + 4 * i) - start, 16 + 4 * i);
  });
  assert.deepEqual(readContainer(relative), { ...readContainer(file) });
});

test('a file with an invalid frame is refused', () => {
  const file = writeContainer(blobs, PLAIN);
  refused(file.subarray(0, 47), 'ERR_TOO_SHORT');
  refused(
    changed(file, (bytes) => bytes.writeUInt8(0x4e, 0)),
    'ERR_CORRUPT',
  );
  refused(Buffer.concat([file.subarray(0, -1), Buffer.of(file.at(-1)! ^ 1)]), 'ERR_INTEGRITY');
  const setByte = (at: number, value: number): Buffer => changed(file, (bytes) => bytes.writeUInt8(value, at));
  for (const bit of [0x20, 0x40, 0x80, 0x08]) refused(setByte(3, 3 | bit), 'ERR_UNSUPPORTED');
  refused(setByte(3, 3 | 0x04), 'ERR_CORRUPT');
  refused(setByte(9, 1), 'ERR_CORRUPT');
  refused(
    changed(file, (bytes) => bytes.set([7, bytes[4]!, bytes[5]!, bytes[6]!, bytes[7]!, 1, 2], 3)),
    'ERR_UNSUPPORTED',
  );
  refused(
    changed(file, (bytes) => bytes.writeUInt32BE(0xffffffff, 4)),
    'ERR_CORRUPT',
  );
  refused(setByte(3, 3 | 0x10), 'ERR_CORRUPT');
  const version = readContainer(setByte(8, 9));
  assert.equal(version.warnings.length, 1);
  assert.equal(readContainer(setByte(12, 77)).grains.length, 5, 'reserved bytes are ignored');
});

test('offsets that do not cut the region into grains are refused', () => {
  const file = writeContainer(blobs, PLAIN);
  const offset = (i: number, value: number): Buffer => changed(file, (bytes) => bytes.writeUInt32BE(value, 16 + 4 * i));
  refused(offset(0, 1), 'ERR_CORRUPT');
  refused(offset(0, file.readUInt32BE(16) + 1), 'ERR_CORRUPT');
  refused(offset(1, file.readUInt32BE(16)), 'ERR_CORRUPT');
  refused(offset(1, file.readUInt32BE(24)), 'ERR_CORRUPT');
  refused(offset(1, file.readUInt32BE(20) + 1), 'ERR_CORRUPT');
  refused(offset(4, file.length), 'ERR_CORRUPT');
  refused(offset(4, 0xffffffff), 'ERR_CORRUPT');
  const gap = sealed(Buffer.concat([file.subarray(0, -32), Buffer.of(0), file.subarray(-32)]));
  refused(gap, 'ERR_CORRUPT');
  const empty = writeContainer([], PLAIN);
  refused(sealed(Buffer.concat([empty.subarray(0, -32), Buffer.of(0x80), empty.subarray(-32)])), 'ERR_CORRUPT');
});

test('flags that contradict the content are refused', () => {
  refused(writeContainer([blobs[0]!, blobs[0]!], PLAIN), 'ERR_CORRUPT');
  const unsorted = writeContainer([blobs[1]!, blobs[0]!], { sorted: false, deduplicated: true });
  refused(
    changed(unsorted, (bytes) => bytes.writeUInt8(3, 3)),
    'ERR_CORRUPT',
  );
  assert.equal(readContainer(unsorted).grains.length, 2);
  const twice = writeContainer([blobs[0]!, blobs[0]!], { sorted: true, deduplicated: false });
  assert.equal(readContainer(twice).grains.length, 2);
});

test('a manifest is one canonical map of claims about grains in the file', () => {
  const manifest = manifestOf([grains[0]!.address, { verificationStatus: 'retracted' }]);
  const file = writeContainer(blobs, { ...PLAIN, manifest });
  const stranger = writeContainer([blobs[1]!], { ...PLAIN, manifest });
  assert.deepEqual(readContainer(stranger).manifest, new Map());
  assert.equal(readContainer(stranger).warnings.length, 1);
  const text = (from: string, to: string): Buffer =>
    changed(file, (bytes) => bytes.write(to, bytes.lastIndexOf(from), 'latin1'));
  refused(text('retracted', 'retractex'), 'ERR_RANGE');
  refused(text(grains[0]!.address, grains[0]!.address.toUpperCase()), 'ERR_HASH_FORMAT');
  assert.equal(readContainer(text('vstatus', 'vstatut')).warnings.length, 1, 'unknown keys are left out');
  refused(sealed(Buffer.concat([file.subarray(0, -32), Buffer.of(0), file.subarray(-32)])), 'ERR_CORRUPT');
  const alone = writeContainer([], { ...PLAIN, manifest });
  assert.equal(readContainer(alone).warnings.length, 1, 'a manifest without grains starts after the head');
});

test('one bad grain causes the whole file to be refused, with the code of that grain', () => {
  const bad = Buffer.from(blobs[2]!);
  bad[3]! ^= 1;
  refused(writeContainer([blobs[0]!, bad, blobs[4]!], { sorted: true, deduplicated: true }), 'ERR_CORRUPT');
  const version = Buffer.from(blobs[2]!);
  version[0] = 2;
  refused(writeContainer([version], PLAIN), 'ERR_VERSION');
  const opaque = Buffer.concat([Buffer.from('01000b000000000000', 'hex'), Buffer.from('81a174a5736b696c6c', 'hex')]);
  const file = writeContainer([opaque], PLAIN);
  refused(file, 'ERR_UNKNOWN_TYPE');
  assert.equal(readAnyContainer(file).grains[0]!.grain.typeString, 'skill');
});

test('signed grains are stored in their envelopes', () => {
  const seed = '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb';
  const key = createPrivateKey({
    key: Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex'),
    format: 'der',
    type: 'pkcs8',
  });
  const signed = encodeGrain('event', { content: 'signed', created_at: T + 10_000 }, { signed: true });
  const envelope = signBlob(signed.blob, { key, issuedAt: 1 });
  const manifest = manifestOf([signed.address, { verificationStatus: 'verified' }]);
  for (const plan of [PLAIN, { ...PLAIN, manifest }]) {
    const read = readContainer(writeContainer([blobs[0]!, envelope], plan));
    assert.equal(read.grains[1]!.address, signed.address);
    assert.deepEqual(read.grains[1]!.blob, signed.blob);
    assert.equal(read.grains[1]!.signer, 'did:key:z6MkiaMbhXHNA4eJVCCj8dbzKzTgYDKf6crKgHVHid1F1WCT');
  }
  refused(writeContainer([signed.blob], PLAIN), 'ERR_SIGNED_MISMATCH');
});

test('a compressed grain region is read, up to a limit', () => {
  const compressed = (region: Buffer, offsets: number[]): Buffer => {
    const head = Buffer.alloc(16 + 4 * offsets.length);
    head.set([0x4d, 0x47, 1, 7]);
    head.writeUInt32BE(offsets.length, 4);
    head.set([1, 1], 8);
    for (const [i, offset] of offsets.entries()) head.writeUInt32BE(offset, 16 + 4 * i);
    return sealed(Buffer.concat([head, zstdCompressSync(region), Buffer.alloc(32)]));
  };
  const offsets = blobs.map((_, i) => blobs.slice(0, i).reduce((sum, { length }) => sum + length, 0));
  const read = readContainer(compressed(Buffer.concat(blobs), offsets));
  assert.deepEqual(
    read.grains.map(({ blob }) => blob),
    blobs,
  );
  refused(compressed(Buffer.alloc(8 * 1_048_576), [0]), 'ERR_CORRUPT');
  const broken = compressed(Buffer.concat(blobs), offsets);
  broken[40] = 0;
  refused(sealed(broken), 'ERR_CORRUPT');
});

test('every truncation and bit flip of a file is refused with a code', () => {
  const manifest = manifestOf([grains[0]!.address, { verificationStatus: 'retracted', accessCount: 2 }]);
  const file = writeContainer(blobs, { ...PLAIN, manifest });
  for (let length = 0; length < file.length; length++)
    assert.throws(() => readContainer(file.subarray(0, length)), GrainError);
  for (let at = 0; at < file.length; at++) {
    const flipped = Buffer.from(file);
    flipped[at]! ^= 0x10;
    assert.throws(() => readContainer(flipped), GrainError);
  }
});

test('a file changed anywhere under a correct footer is read or refused, never worse', () => {
  const manifest = manifestOf([grains[0]!.address, { verificationStatus: 'retracted', accessCount: 2 }]);
  const file = writeContainer(blobs, { ...PLAIN, manifest });
  const random = mulberry(11);
  let refusals = 0;
  for (let round = 0; round < 3_000; round++) {
    const bytes = changed(file, (copy) => {
      for (let i = 0; i <= round % 3; i++) copy[Math.floor(random() * (copy.length - 32))] = Math.floor(random() * 256);
    });
    try {
      readAnyContainer(bytes);
    } catch (error) {
      assert.ok(error instanceof GrainError, String(error));
      refusals++;
    }
  }
  assert.ok(refusals > 2_000);
});

test('an import may be a file, a bare blob or an envelope', () => {
  assert.equal(readImport(writeContainer(blobs, PLAIN)).grains.length, 5);
  assert.equal(readImport(VECTOR.blob).grains[0]!.address, VECTOR.address);
  assert.throws(() => readImport(Buffer.from('plain text')), { code: 'ERR_VERSION' });
});
