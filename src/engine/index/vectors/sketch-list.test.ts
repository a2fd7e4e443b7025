import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arena } from './arena.ts';
import { GrainRows } from './grain-rows.ts';
import { writeHalves } from './half-float.ts';
import { Sketcher } from './sketch.ts';
import { SketchList } from './sketch-list.ts';
import { asKept, generator, unitVector } from './testing.ts';

function rotatedOf(vector: Float32Array): Float32Array {
  const sketcher = new Sketcher(vector.length);
  const rotated = new Float32Array(sketcher.bits);
  sketcher.write(vector, rotated, 0);
  return rotated;
}

/** Signs of the rotated components, one by one. */
function signsOf(vector: Float32Array): boolean[] {
  return [...rotatedOf(vector)].map((value) => value > 0);
}

/** The same components' shares of the largest, in fifteenths. */
function weightsOf(vector: Float32Array): number[] {
  const sizes = [...rotatedOf(vector)].map(Math.abs);
  const largest = Math.max(...sizes);
  return sizes.map((size) => Math.round(size * (15 / largest)));
}

const differences = (a: readonly boolean[], b: readonly boolean[]): number => a.filter((bit, i) => bit !== b[i]).length;

for (const dimensions of [3, 64, 100, 512, 1_000])
  test(`a search returns the rows whose sketches differ least by weighted bits, at ${dimensions} dimensions, over pages and gaps`, () => {
    const arena = new Arena();
    const grains = new GrainRows(arena, dimensions);
    const list = new SketchList(arena, dimensions);
    const count = 700;
    const random = generator(dimensions);
    const signs: boolean[][] = [];
    for (let row = 0; row < count; row++) {
      const vector = unitVector(dimensions, Math.floor(random() * 300));
      const { halves, at } = grains.append(row + 1, true);
      writeHalves(vector, halves, at);
      signs.push(signsOf(asKept(vector)));
    }
    const none = signsOf(new Float32Array(dimensions));
    for (const row of [5, 6, 300]) signs[row] = none;
    list.add(grains.rows, 0, 5);
    list.add(grains.rows, 7, 400);
    list.remove(300);
    for (let from = 400; from < count; from += 100) list.add(grains.rows, from, from + 100);
    assert.equal(list.count, count);
    for (const [seed, wanted] of [
      [1, 10],
      [2, 1],
      [3, 699],
      [4, 10_000],
    ] as const) {
      const query = unitVector(dimensions, seed);
      const asked = signsOf(query);
      const weights = weightsOf(query);
      // Sketches of 512 bits and more are compared by their first half.
      const first = asked.length < 512 ? asked.length : asked.length / 2;
      const distance = (row: number): number => differences(signs[row]!.slice(0, first), asked.slice(0, first));
      const weight = (row: number): number =>
        weights.reduce((sum, one, i) => (signs[row]![i] === asked[i] ? sum : sum + one), 0);
      // Twelve times as many rows are weighed as are wanted.
      const expected = Array.from({ length: count }, (_, row) => row)
        .sort((a, b) => distance(a) - distance(b) || a - b)
        .slice(0, 12 * wanted)
        .sort((a, b) => weight(a) - weight(b) || a - b);
      assert.deepEqual([...list.search(query, wanted)], expected.slice(0, wanted));
      assert.deepEqual([...list.search(query, 2 * wanted)], expected.slice(0, 2 * wanted), 'a larger limit');
    }
    const bytes = arena.bytes;
    list.drop();
    assert.ok(arena.bytes < bytes);
    assert.deepEqual([...list.search(unitVector(dimensions, 1), 5)], []);
  });
