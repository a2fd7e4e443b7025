import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wasm } from '../../base/wasm.ts';
import { KERNEL_DIMENSIONS, makeKernel, QUERY_SCALE } from './kernel.ts';
import { makeWeighing } from './weighing.ts';

const ADDRESSES_AT = 16_384;
const OUT_AT = 32_768;
const FIRST_AT = 49_152;
const ONE_HALF_FLOAT = 0x3c00;

/** A memory with `count` addresses, followed by further addresses outside the memory. */
function memoryOf(count: number, bytes: number): { memory: InstanceType<typeof wasm.Memory>; words: Uint32Array } {
  const memory = new wasm.Memory({ initial: 1, maximum: 1 });
  const words = new Uint32Array(memory.buffer);
  words.fill(0xffff_ffc0, ADDRESSES_AT / 4, ADDRESSES_AT / 4 + 64);
  for (let i = 0; i < count; i++) words[ADDRESSES_AT / 4 + i] = FIRST_AT + i * bytes;
  return { memory, words };
}

for (const count of [1, 2, 3, 4, 5, 16, 17, 33]) {
  test(`the kernel fetches ${count} rows ahead, and nothing behind them`, () => {
    const bytes = 2 * KERNEL_DIMENSIONS;
    const { memory } = memoryOf(count, bytes);
    const halves = new Uint16Array(memory.buffer);
    const floats = new Float32Array(memory.buffer);
    floats.fill(QUERY_SCALE, 0, KERNEL_DIMENSIONS);
    // Row i has i + 1 ones.
    for (let i = 0; i < count; i++) {
      const at = (FIRST_AT + i * bytes) / 2;
      halves.fill(ONE_HALF_FLOAT, at, at + Math.min(i + 1, KERNEL_DIMENSIONS));
    }
    makeKernel(memory)(ADDRESSES_AT, count, bytes, 0, OUT_AT);
    const scores = [...floats.subarray(OUT_AT / 4, OUT_AT / 4 + count)];
    assert.deepEqual(
      scores,
      scores.map((_, i) => Math.min(i + 1, KERNEL_DIMENSIONS)),
    );
  });

  test(`${count} sketches are fetched ahead, and nothing behind them`, () => {
    const { memory, words } = memoryOf(count, 8);
    // A query without set bits, each of weight 8: its highest plane.
    new Uint16Array(memory.buffer).fill(0xffff, 4, 8);
    for (let i = 0; i < count; i++) words[(FIRST_AT + 8 * i) / 4] = 2 ** (i % 32) - 1;
    makeWeighing(memory)(ADDRESSES_AT, count, 8, 0, OUT_AT);
    const weights = [...words.subarray(OUT_AT / 4, OUT_AT / 4 + count)];
    assert.deepEqual(
      weights,
      weights.map((_, i) => 8 * (i % 32)),
    );
  });
}
