// The weighted difference of sketches from a query, as a WebAssembly function. Each differing bit counts by the magnitude
// of the query's rotated component: the sign of a small component says little (the asymmetric estimate of Gordo and
// Perronnin 2011, "Asymmetric distances for binary embeddings"). Magnitudes have four bits, each in a bit plane of its
// own. So a sketch costs four population counts for each word (14 ns for 512 bits).
import type { WasmMemory, WasmModule } from '../../base/wasm.ts';
import {
  AGAIN_IF,
  advance,
  END_BLOCK,
  get,
  I32,
  I32_ADD,
  I32_LESS_UNSIGNED,
  I32_SUB,
  I64,
  I64_ADD,
  I64_AND,
  I64_ONES,
  I64_SHIFT_LEFT,
  I64_XOR,
  instantiate,
  integer,
  integer64,
  LOOP,
  load32,
  load64,
  moduleOf,
  set,
  store32,
  tee,
  ZERO64,
} from '../../base/wasm-code.ts';
import { fetchAhead } from './fetch-ahead.ts';

const PLANES = 4;
/** The largest weight of a bit. */
export const WEIGHT_MAX = 2 ** PLANES - 1;
/** 16-bit words of a query for each 64 bits of a sketch: its own bits, then its planes. */
export const QUERY_HALVES = 4 * (1 + PLANES);

/**
 * For each of `count` sketches (at least 1) of `bytes` bytes, whose u32 addresses are at `sketches`, writes to `out`
 * the sum of the weights of the bits in which it differs from the query: `count` u32. `query` is the address of
 * QUERY_HALVES u16 for each 64 bits.
 */
export type Weighing = (sketches: number, count: number, bytes: number, query: number, out: number) => void;

/** Parameters, then locals, by number. */
const [SKETCHES, COUNT, BYTES, QUERY, OUT, AT, END, QUERY_AT, LEFT, TOUCHED, NEXT, SUM, DIFFERENT] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
] as const;
/** Sketches that are prefetched together. */
const GROUP = 16;
const DOUBLE = [...integer64(1n), I64_SHIFT_LEFT];

function bodyOf(): number[] {
  const plane = (number: number): number[] => [
    ...get(DIFFERENT),
    ...get(QUERY_AT),
    ...load64(8 * (number + 1)),
    ...[I64_AND, I64_ONES],
  ];
  const lower = Array.from({ length: PLANES - 1 }, (_, i) => [...DOUBLE, ...plane(i + 1), I64_ADD]).flat();
  const words = [
    ...LOOP,
    ...[...get(AT), ...load64(0), ...get(QUERY_AT), ...load64(0), I64_XOR, ...set(DIFFERENT)],
    ...[...get(SUM), ...plane(0), ...lower, I64_ADD, ...set(SUM)],
    ...advance(QUERY_AT, 2 * QUERY_HALVES),
    ...[...get(AT), ...integer(8), I32_ADD, ...tee(AT)],
    ...[...get(END), I32_LESS_UNSIGNED, ...AGAIN_IF],
    END_BLOCK,
  ];
  return [
    ...LOOP,
    ...fetchAhead(
      { places: SKETCHES, count: COUNT, bytes: BYTES, left: LEFT, touched: TOUCHED, next: NEXT, at: AT, end: END },
      GROUP,
    ),
    ...[...get(OUT), ...get(TOUCHED), ...store32(0)], // the sum is written over it
    ...[...get(SKETCHES), ...load32(0), ...tee(AT)],
    ...[...get(BYTES), I32_ADD, ...set(END)],
    ...[...get(QUERY), ...set(QUERY_AT), ...ZERO64, ...set(SUM)],
    ...words,
    ...[...get(OUT), ...get(SUM), 0xa7, ...store32(0)], // i32.wrap_i64
    ...advance(OUT, 4),
    ...advance(SKETCHES, 4),
    ...[...get(COUNT), ...integer(1), I32_SUB, ...tee(COUNT), ...AGAIN_IF],
    END_BLOCK,
  ];
}

let compiled: WasmModule | undefined;

/** The function over `memory`. */
export function makeWeighing(memory: WasmMemory): Weighing {
  compiled ??= moduleOf(
    [
      [6, I32],
      [2, I64],
    ],
    bodyOf(),
  );
  return instantiate(compiled, memory) as Weighing; // The type of `bodyOf`'s code.
}

/**
 * Converts a query to the function's form in `into`: the sign of each rotated component and its share of the largest
 * one, from 0 to WEIGHT_MAX. `into` has QUERY_HALVES for each 64 components, and stays zero beyond them.
 */
export function writeWeights(rotated: Float32Array, into: Uint16Array): void {
  let largest = 0;
  for (let i = 0; i < rotated.length; i++) largest = Math.max(largest, Math.abs(rotated[i]!));
  const unit = largest === 0 ? 0 : WEIGHT_MAX / largest;
  into.fill(0);
  for (let i = 0; i < rotated.length; i++) {
    const value = rotated[i]!;
    const at = QUERY_HALVES * (i >>> 6) + ((i & 63) >>> 4);
    const bit = 1 << (i & 15);
    if (value > 0) into[at]! |= bit;
    const weight = Math.round(Math.abs(value) * unit);
    for (let plane = 0; plane < PLANES; plane++)
      if ((weight & (1 << (PLANES - 1 - plane))) !== 0) into[at + 4 * (plane + 1)]! |= bit;
  }
}
