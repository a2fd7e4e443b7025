import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { BLOCK_BYTES } from '../../base/limits.ts';
import { CorruptBlock, SECTIONS, type SectionName } from '../files/section.ts';
import { HeapBudget } from '../heap-budget.ts';
import { BLOCK_OVERHEAD, checksumFits, type Envelope, SealedChunk, storedBlocks } from './chunk.ts';
import { ChunkWriter } from './chunk-writer.ts';

const key = randomBytes(32);
const id = randomBytes(16);

function write(writes: readonly (readonly [SectionName, Uint8Array])[]): { bytes: Buffer; rootLength: number } {
  const parts: Buffer[] = [];
  const writer = new ChunkWriter((bytes) => parts.push(Buffer.from(bytes)));
  writer.begin(key, id);
  for (const [name, bytes] of writes) writer.section(name).write(bytes);
  const { length, rootLength } = writer.finish();
  const bytes = Buffer.concat(parts);
  assert.equal(bytes.length, length);
  return { bytes, rootLength };
}

function openChunk(written: { bytes: Buffer; rootLength: number }, chunkId: Uint8Array = id): SealedChunk {
  return new SealedChunk({
    bytes: {
      file: 'test.seg',
      offset: 1_000,
      read: (offset, length) => written.bytes.subarray(offset, offset + length),
    },
    place: { id: chunkId, length: written.bytes.length, rootLength: written.rootLength },
    key: () => key,
    cache: new HeapBudget(10 * BLOCK_BYTES).scope(),
  });
}

const names = Object.keys(SECTIONS) as SectionName[];
const pieces = fc.array(
  fc.tuple(
    fc.constantFrom(...names),
    fc.oneof(fc.nat(2_000), fc.nat(3 * BLOCK_BYTES), fc.constant(BLOCK_BYTES)),
    fc.nat(255),
  ),
  { maxLength: 24 },
);

test('sections read back whole and in ranges, in whatever turns they were written', () => {
  fc.assert(
    fc.property(pieces, fc.nat(), fc.nat(), (list, a, b) => {
      const writes = list.map(([name, length, seed]) => {
        const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + seed + (i >>> 8)) & 255);
        return [name, bytes] as const;
      });
      const chunk = openChunk(write(writes));
      for (const name of names) {
        const expected = Buffer.concat(writes.filter(([n]) => n === name).map(([, bytes]) => bytes));
        const section = chunk.section(name);
        assert.equal(section.length, expected.length);
        assert.ok(expected.equals(section.bytes(0, expected.length)));
        const start = a % (expected.length + 1);
        const end = start + (b % (expected.length - start + 1));
        assert.ok(expected.subarray(start, end).equals(section.bytes(start, end)));
      }
    }),
    { numRuns: runs(60) },
  );
});

test('a small chunk is one block', () => {
  const written = write([
    ['docs', new Uint8Array(10_000)],
    ['keyed', new Uint8Array(20_000)],
  ]);
  assert.equal(written.bytes.length, written.rootLength);
  assert.ok(written.bytes.length < 30_000 + BLOCK_OVERHEAD + 20);
  assert.equal(openChunk(written).blockCount, 1);
});

test('no stored block holds more than the limit, and every checksum fits', () => {
  const written = write(names.map((name) => [name, new Uint8Array(BLOCK_BYTES + 20_000)] as const));
  const place = { id, length: written.bytes.length, rootLength: written.rootLength };
  let end = 0;
  let blocks = 0;
  for (const { offset, length } of storedBlocks(place)) {
    assert.equal(offset, end);
    assert.ok(length <= BLOCK_BYTES + BLOCK_OVERHEAD);
    assert.ok(checksumFits(written.bytes.subarray(offset, offset + length)));
    end += length;
    blocks += 1;
  }
  assert.equal(end, written.bytes.length);
  const chunk = openChunk(written);
  assert.equal(chunk.blockCount, blocks);
  for (let i = 0; i < blocks; i++) chunk.checkBlock(i);
});

test('the map of a chunk with more blocks than a block has bytes still finds every section', () => {
  // The test's envelope replaces the sealing of blocks: 33,000 real ones would encrypt a gigabyte.
  const stored = new Map<number, Uint8Array>();
  const cheap: Envelope = {
    seal: (_key, plain, associated) => {
      stored.set(
        Buffer.from(associated).readUInt32BE(16),
        plain.slice(0, plain.length === BLOCK_BYTES ? 8 : undefined),
      );
      return new Uint8Array(plain.length + BLOCK_OVERHEAD - 4);
    },
    open: (_key, _sealed, associated) => stored.get(Buffer.from(associated).readUInt32BE(16))!,
  };
  const mapBlock = new Uint8Array(BLOCK_BYTES);
  const writer = new ChunkWriter(() => undefined, {
    ...cheap,
    seal: (k, plain, associated) => {
      if (plain.length === BLOCK_BYTES && plain[9] !== 255) mapBlock.set(plain);
      return cheap.seal(k, plain, associated);
    },
  });
  writer.begin(key, id);
  const block = new Uint8Array(BLOCK_BYTES).fill(255);
  const view = new DataView(block.buffer);
  for (let i = 0; i < 33_000; i++) {
    view.setUint32(0, i);
    writer.section(i % 3 === 0 ? 'docs' : 'textPostings').write(block);
  }
  const { length, rootLength } = writer.finish();
  stored.set(BLOCK_BYTES, mapBlock);
  const chunk = new SealedChunk({
    bytes: { file: 'test.seg', offset: 0, read: (_offset, count) => new Uint8Array(count) },
    place: { id, length, rootLength },
    key: () => key,
    envelope: cheap,
    cache: new HeapBudget(0).scope(),
  });
  assert.equal(chunk.section('docs').length, 11_000 * BLOCK_BYTES);
  for (const i of [0, 1, 5_000, 10_921, 10_923, 10_999]) {
    const at = chunk.section('docs').bytes(i * BLOCK_BYTES, i * BLOCK_BYTES + 4);
    assert.equal(Buffer.from(at).readUInt32BE(0), i * 3);
  }
});

test('a flipped byte anywhere is found and named', () => {
  const written = write([['docs', randomBytes(BLOCK_BYTES * 2 + 500)]]);
  fc.assert(
    fc.property(fc.nat(written.bytes.length - 1), (at) => {
      const bytes = Buffer.from(written.bytes);
      bytes[at]! ^= 0x10;
      const chunk = openChunk({ bytes, rootLength: written.rootLength });
      let found: unknown;
      try {
        for (let i = 0; i < chunk.blockCount; i++) chunk.checkBlock(i);
      } catch (error) {
        found = error;
      }
      // The last four bytes of a block are its CRC, which only checks without a key read.
      const isCrc = [...storedBlocks({ id, length: bytes.length, rootLength: written.rootLength })].some(
        ({ offset, length }) => at >= offset + length - 4 && at < offset + length,
      );
      if (isCrc) return;
      assert.ok(found instanceof CorruptBlock);
      assert.equal(found.file, 'test.seg');
      assert.ok(found.offset <= 1_000 + at && found.offset > 1_000 + at - BLOCK_BYTES - BLOCK_OVERHEAD);
    }),
    { numRuns: runs(50) },
  );
});

test('a block of another chunk does not open', () => {
  const written = write([['docs', new Uint8Array(10)]]);
  assert.throws(() => openChunk(written, randomBytes(16)).section('docs').length, /authenticate/);
});
