// A WebAssembly function that counts the bits in which many sketches differ from a query's: 64 bits an instruction.
import type { WasmMemory, WasmModule } from '../../base/wasm.ts';
import {
  AGAIN_IF,
  advance,
  END_BLOCK,
  get,
  I32_ADD,
  I32_SUB,
  I64,
  I64_ADD,
  I64_ONES,
  I64_XOR,
  instantiate,
  integer,
  LOOP,
  load64,
  moduleOf,
  set,
  tee,
} from '../../base/wasm-code.ts';

/** Sketches are padded with zeros to a multiple of this many bytes. */
export const SKETCH_ROUND_BYTES = 32;
/** Words of the query that stay in locals. Those of longer ones are loaded for each sketch. */
const WORDS_HELD = 16;

/**
 * For each of `count` sketches (at least 1) of `bytes` bytes, stored one behind the other from `from` on, writes to
 * `out` the number of bits in which it differs from the one at `query`: `count` u32. Works only for the size that it
 * was made for.
 */
export type Hamming = (from: number, count: number, bytes: number, query: number, out: number) => void;

/** Parameters, then locals, by number. */
const [AT, COUNT, BYTES, QUERY, OUT, HELD] = [0, 1, 2, 3, 4, 5] as const;

/** All words of a sketch, unrolled: a loop over them takes twice as long. */
function bodyOf(words: number): number[] {
  const all = Array.from({ length: words }, (_, word) => word);
  const held = all.slice(0, WORDS_HELD);
  const ofQuery = (word: number): number[] =>
    word < held.length ? get(HELD + word) : [...get(QUERY), ...load64(8 * word)];
  const differing = (word: number): number[] => [
    ...[...get(AT), ...load64(8 * word), ...ofQuery(word), I64_XOR, I64_ONES],
    ...(word === 0 ? [] : [I64_ADD]),
  ];
  return [
    ...held.flatMap((word) => [...get(QUERY), ...load64(8 * word), ...set(HELD + word)]),
    ...LOOP,
    ...[...get(OUT), ...all.flatMap(differing)],
    ...[0xa7, 0x36, 2, 0], // i32.wrap_i64, i32.store
    ...[...get(AT), ...get(BYTES), I32_ADD, ...set(AT)],
    ...advance(OUT, 4),
    ...[...get(COUNT), ...integer(1), I32_SUB, ...tee(COUNT), ...AGAIN_IF],
    END_BLOCK,
  ];
}

const compiled = new Map<number, WasmModule>();

/** Makes the function over `memory`, for sketches of `bytes` bytes. */
export function makeHamming(memory: WasmMemory, bytes: number): Hamming {
  const words = bytes / 8;
  const module = compiled.get(bytes) ?? moduleOf([[Math.min(words, WORDS_HELD), I64]], bodyOf(words));
  compiled.set(bytes, module);
  return instantiate(module, memory) as Hamming; // The type of `bodyOf`'s code.
}
