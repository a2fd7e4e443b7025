// How many bits of many sketches differ from those of a query, as a WebAssembly function: 64 bits an instruction.
import type { WasmMemory, WasmModule } from './wasm.ts';
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
  instantiate,
  integer,
  LOOP,
  moduleOf,
  set,
  tee,
} from './wasm-code.ts';

/** Sketches are padded with zeros to a multiple of so many bytes. */
export const SKETCH_ROUND_BYTES = 32;

/**
 * Writes to `out` for each of `count` sketches (at least 1) of `bytes` bytes, which lie one behind the other from `from` on, in how
 * many bits it differs from that at `query`: `count` u32.
 */
export type Hamming = (from: number, count: number, bytes: number, query: number, out: number) => void;

/** Parameters, then locals, by number. */
const [AT, COUNT, BYTES, QUERY, OUT, END, QUERY_AT, SUM] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

const load64 = (offset: number): number[] => [0x29, 3, offset];
const XOR = 0x85;
const COUNT_ONES = 0x7b;
const ADD = 0x7c;
const ZERO = [0x42, 0];

function bodyOf(): number[] {
  const word = (offset: number): number[] => [
    ...get(AT),
    ...load64(offset),
    ...get(QUERY_AT),
    ...load64(offset),
    ...[XOR, COUNT_ONES],
  ];
  const words = [
    ...LOOP,
    ...get(SUM),
    ...Array.from({ length: SKETCH_ROUND_BYTES / 8 }, (_, i) => [...word(8 * i), ADD]).flat(),
    ...set(SUM),
    ...advance(QUERY_AT, SKETCH_ROUND_BYTES),
    ...get(AT),
    ...integer(SKETCH_ROUND_BYTES),
    I32_ADD,
    ...tee(AT),
    ...get(END),
    I32_LESS_UNSIGNED,
    ...AGAIN_IF,
    END_BLOCK,
  ];
  return [
    ...LOOP,
    ...[...get(AT), ...get(BYTES), I32_ADD, ...set(END)],
    ...[...get(QUERY), ...set(QUERY_AT), ...ZERO, ...set(SUM)],
    ...words,
    ...get(OUT),
    ...get(SUM),
    ...[0xa7, 0x36, 2, 0], // i32.wrap_i64, i32.store
    ...advance(OUT, 4),
    ...get(COUNT),
    ...integer(1),
    I32_SUB,
    ...tee(COUNT),
    ...AGAIN_IF,
    END_BLOCK,
  ];
}

let compiled: WasmModule | undefined;

/** The function over `memory`. */
export function makeHamming(memory: WasmMemory): Hamming {
  compiled ??= moduleOf(
    [
      [2, I32],
      [1, I64],
    ],
    bodyOf(),
  );
  return instantiate(compiled, memory) as Hamming; // What `bodyOf` is.
}
