import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { Arena, Rows } from './arena.ts';
import { writeHalves } from './half-float.ts';
import { asKept, innerProduct, unitVector } from './testing.ts';

function keep(rows: Rows, vector: Float32Array): void {
  const { halves, at } = rows.halvesAt(rows.push());
  writeHalves(vector, halves, at);
}

test('a half float is the nearest one to its number, and zero below the smallest normal one', () => {
  fc.assert(
    fc.property(fc.float({ min: -1, max: 1, noNaN: true }), (value) => {
      const kept = asKept(Float32Array.of(value))[0]!;
      if (Math.abs(value) < 2 ** -14) assert.equal(Math.abs(kept), 0);
      // Ten bits of mantissa: half a unit of the last one.
      else assert.ok(Math.abs(kept - value) <= 2 ** (Math.floor(Math.log2(Math.abs(value))) - 11), `${value} ${kept}`);
    }),
    { numRuns: runs(2_000) },
  );
  for (const [value, bits] of [
    [1, 0x3c00],
    [-1, 0xbc00],
    [0.5, 0x3800],
    [2 ** -14, 0x0400],
    [1 - 2 ** -12, 0x3c00],
    [1 - 2 ** -11, 0x3bff],
  ] as const) {
    const halves = new Uint16Array(1);
    writeHalves(Float32Array.of(value), halves, 0);
    assert.equal(halves[0], bits, String(value));
  }
});

test('the kernel gives inner products for all dimensions and places of rows', () => {
  const arena = new Arena();
  for (const dimensions of [1, 2, 31, 32, 33, 100, 384, 512, 1_536, 8_192]) {
    const rows = new Rows(arena, dimensions);
    const vectors = Array.from({ length: 70 }, (_, seed) => unitVector(dimensions, seed));
    for (const vector of vectors) keep(rows, vector);
    const query = unitVector(dimensions, 1_000);
    const asked = Uint32Array.from({ length: 140 }, (_, i) => (i * 37) % 70);
    const scores = new Float32Array(140);
    rows.score(query, asked, 140, scores);
    for (let i = 0; i < 140; i++) {
      const expected = innerProduct(asKept(vectors[asked[i]!]!), query);
      assert.ok(Math.abs(scores[i]! - expected) < 1e-5, `${dimensions} dimensions, row ${asked[i]}`);
    }
  }
});

test('more rows than one call takes are computed too, and zeros are zeros', () => {
  const rows = new Rows(new Arena(), 32);
  for (let seed = 0; seed < 5_000; seed++) keep(rows, unitVector(32, seed % 7));
  rows.clear(3);
  const scores = new Float32Array(5_000);
  rows.score(
    unitVector(32, 0),
    Uint32Array.from({ length: 5_000 }, (_, row) => row),
    5_000,
    scores,
  );
  assert.ok(Math.abs(scores[4_900]! - 1) < 1e-3);
  assert.equal(scores[3], 0);
  assert.equal(scores[4_997], scores[6]);
});

test('pages that were released are zeroed, and are used again', () => {
  const arena = new Arena();
  const first = new Rows(arena, 512);
  for (let seed = 0; seed < 40; seed++) keep(first, unitVector(512, seed));
  const bytes = arena.bytes;
  first.drop();
  assert.equal(arena.bytes, 0);
  const second = new Rows(arena, 512);
  for (let row = 0; row < 40; row++) assert.ok(second.read(second.push()).every((half) => half === 0));
  assert.equal(arena.bytes, bytes);
});
