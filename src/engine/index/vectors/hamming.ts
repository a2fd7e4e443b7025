// How many bits of many sketches differ from those of a query, as a WebAssembly function: 64 bits an instruction.
import type { WasmMemory, WasmModule } from './wasm.ts';
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
} from './wasm-code.ts';

/** Sketches are padded with zeros to a multiple of so many bytes. */
export const SKETCH_ROUND_BYTES = 32;
/** So many words of the query stay in locals; those of longer ones are loaded for each sketch. */
const WORDS_HELD = 16;

/**
 * Writes to `out` for each of `count` sketches (at least 1) of `bytes` bytes, which lie one behind the other from `from` on, in how
 * many bits it differs from that at `query`: `count` u32. For the bytes alone that it was made for.
 */
export type Hamming = (from: number, count: number, bytes: number, query: number, out: number) => void;

/** Parameters, then locals, by number. */
const [AT, COUNT, BYTES, QUERY, OUT, HELD] = [0, 1, 2, 3, 4, 5] as const;

/** All words of a sketch one after the other: a loop over them takes twice as long. */
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

/** The function over `memory`, for sketches of `bytes` bytes. */
export function makeHamming(memory: WasmMemory, bytes: number): Hamming {
  const words = bytes / 8;
  const module = compiled.get(bytes) ?? moduleOf([[Math.min(words, WORDS_HELD), I64]], bodyOf(words));
  compiled.set(bytes, module);
  return instantiate(module, memory) as Hamming; // What `bodyOf` is.
}
