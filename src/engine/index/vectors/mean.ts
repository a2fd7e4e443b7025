// One vector for a grain of several chunks: their mean.
import type { GrainRows } from './grain-rows.ts';
import { readHalves } from './half-float.ts';

/**
 * A unit vector that the caller owns; undefined for a grain without vectors, or when its chunks cancel each other out.
 */
export function meanOfChunks(grains: GrainRows, ordinal: number): Float32Array | undefined {
  const first = grains.firstRow(ordinal);
  if (first < 0) return undefined;
  const chunk = new Float32Array(grains.rows.dimensions);
  const mean = new Float32Array(chunk.length);
  for (let row = first, end = grains.endOf(first); row < end; row++) {
    const { halves, at } = grains.rows.halvesAt(row);
    readHalves(halves, at, chunk);
    for (let i = 0; i < mean.length; i++) mean[i]! += chunk[i]!;
  }
  const length = Math.sqrt(mean.reduce((sum, value) => sum + value * value, 0));
  if (!(length > 0)) return undefined;
  for (let i = 0; i < mean.length; i++) mean[i]! /= length;
  return mean;
}
