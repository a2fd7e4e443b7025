import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeManifest, encodeManifest, fileId, fileName } from './manifest.ts';

const number = fc.nat(2 ** 31);

test('a manifest reads back unchanged', () => {
  fc.assert(
    fc.property(
      number,
      number,
      fc.array(fc.record({ id: number, first: number, last: number }, { noNullPrototype: true })),
      fc.array(fc.tuple(number, fc.uniqueArray(number, { minLength: 1 })), { maxLength: 5 }),
      (sealedSequence, nextFileId, files, pairs) => {
        const dead = new Map(pairs.map(([id, memories]) => [id, new Set(memories)]));
        const manifest = { sealedSequence, nextFileId, files, dead };
        assert.deepEqual(decodeManifest(encodeManifest(manifest)), manifest);
      },
    ),
  );
});

test('a manifest of another format is refused', () => {
  assert.throws(() => decodeManifest(Uint8Array.of(9, 0, 0)), { code: 'STO-E001' });
});

test('the id is read from a file name, and other names have none', () => {
  for (const id of [1, 99_999_999, 123_456_789]) assert.equal(fileId(fileName(id)), id);
  for (const name of ['1.seg', '00000001.seg.bad', 'x00000001.seg', 'data.mdb']) assert.equal(fileId(name), undefined);
});
