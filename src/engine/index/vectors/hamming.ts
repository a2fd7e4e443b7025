// WebAssembly functions that count the bits in which many sketches differ from a query's: 64 bits an instruction.
import type { WasmMemory, WasmModule } from '../../base/wasm.ts';
import {
  AGAIN_IF,
  advance,
  END_BLOCK,
  get,
  I32,
  I32_ADD,
  I32_OR,
  I32_SHIFT_LEFT,
  I32_SUB,
  I64,
  I64_ADD,
  I64_ONES,
  I64_XOR,
  instantiateAll,
  integer,
  LOOP,
  load64,
  moduleWith,
  set,
  store32,
  tee,
} from '../../base/wasm-code.ts';

/** Sketches are padded with zeros to a multiple of this many bytes. */
export const SKETCH_ROUND_BYTES = 32;
/** Words of the query that stay in locals. Those of longer ones are loaded for each sketch. */
const WORDS_HELD = 16;

/** Of a number from `near`: the bits below hold a sketch's index, the others its distance. */
export const INDEX_BITS = 12;

/** The functions work only for the size that they were made for. */
export interface Hamming {
  /**
   * For each of `count` sketches (at least 1), stored from `from` on with `stride` bytes from one to the next, writes to
   * `out` the number of bits in which it differs from the one at `query`: `count` u32.
   */
  readonly all: (from: number, count: number, stride: number, query: number, out: number) => void;
  /**
   * Of `count` sketches (1 to 2 ** INDEX_BITS), those that differ in at most `most` bits: writes distance << INDEX_BITS |
   * index of each to `out`, ascending by index. Returns the end of what it wrote; `out` needs room for `count` u32.
   */
  readonly near: (from: number, count: number, stride: number, query: number, out: number, most: number) => number;
}

/** Parameters, then locals, by number. */
const [AT, COUNT, STRIDE, QUERY, OUT, MOST] = [0, 1, 2, 3, 4, 5] as const;
const OF_ALL = { held: 5 };
const OF_NEAR = { index: 6, distance: 7, held: 8 };
const NOT_ABOVE_UNSIGNED = 0x4d;
const WRAP = 0xa7;

/** Puts the words of the query into locals, and makes the code for the distance of the sketch at AT. */
function distanceOf(words: number, held: number): { readonly hold: number[]; readonly distance: number[] } {
  const all = Array.from({ length: words }, (_, word) => word);
  const inLocals = all.slice(0, WORDS_HELD);
  const ofQuery = (word: number): number[] =>
    word < inLocals.length ? get(held + word) : [...get(QUERY), ...load64(8 * word)];
  // All words are unrolled: a loop over them takes twice as long.
  const differing = (word: number): number[] => [
    ...[...get(AT), ...load64(8 * word), ...ofQuery(word), I64_XOR, I64_ONES],
    ...(word === 0 ? [] : [I64_ADD]),
  ];
  const hold = inLocals.flatMap((word) => [...get(QUERY), ...load64(8 * word), ...set(held + word)]);
  return { hold, distance: [...all.flatMap(differing), WRAP] };
}

const NEXT_SKETCH = [
  ...[...get(AT), ...get(STRIDE), I32_ADD, ...set(AT)],
  ...[...get(COUNT), ...integer(1), I32_SUB, ...tee(COUNT), ...AGAIN_IF],
  END_BLOCK,
];

function bodyOfAll(words: number): number[] {
  const { hold, distance } = distanceOf(words, OF_ALL.held);
  return [...hold, ...LOOP, ...get(OUT), ...distance, ...store32(0), ...advance(OUT, 4), ...NEXT_SKETCH];
}

/** Every sketch is written, and the next one over it unless it is near: a branch would often be mispredicted. */
function bodyOfNear(words: number): number[] {
  const { index, held } = OF_NEAR;
  const { hold, distance } = distanceOf(words, held);
  return [
    ...[...hold, ...LOOP],
    ...[...get(OUT), ...distance, ...tee(OF_NEAR.distance), ...integer(INDEX_BITS), I32_SHIFT_LEFT],
    ...[...get(index), I32_OR, ...store32(0)],
    ...[...get(OUT), ...get(OF_NEAR.distance), ...get(MOST), NOT_ABOVE_UNSIGNED],
    ...[...integer(2), I32_SHIFT_LEFT, I32_ADD, ...set(OUT)],
    ...[...advance(index, 1), ...NEXT_SKETCH],
    ...get(OUT),
  ];
}

const compiled = new Map<number, WasmModule>();

/** Makes the functions over `memory`, for sketches of `bytes` bytes. */
export function makeHamming(memory: WasmMemory, bytes: number): Hamming {
  const words = bytes / 8;
  let module = compiled.get(bytes);
  if (module === undefined) {
    const held = [Math.min(words, WORDS_HELD), I64] as const;
    const numbers = (count: number): number[] => new Array<number>(count).fill(I32);
    module = moduleWith({
      all: { parameters: numbers(5), locals: [held], body: bodyOfAll(words) },
      near: { parameters: numbers(6), results: [I32], locals: [[2, I32], held], body: bodyOfNear(words) },
    });
    compiled.set(bytes, module);
  }
  return instantiateAll(module, memory) as unknown as Hamming; // The types of the bodies' code.
}
