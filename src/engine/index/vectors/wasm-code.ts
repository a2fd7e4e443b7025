// Writes WebAssembly by hand: the few instructions of the kernels, and a module around one function.
import { type WasmMemory, type WasmModule, wasm } from './wasm.ts';

export const I32 = 0x7f;
export const I64 = 0x7e;
export const V128 = 0x7b;
export const I32_ADD = 0x6a;
export const I32_SUB = 0x6b;
export const I32_LESS_UNSIGNED = 0x49;
export const I64_ADD = 0x7c;
export const I64_XOR = 0x85;
/** How many of 64 bits are set. */
export const I64_ONES = 0x7b;
export const ZERO64 = [0x42, 0];
export const LOOP = [0x03, 0x40];
export const AGAIN_IF = [0x0d, 0x00];
export const END_BLOCK = 0x0b;

export const get = (local: number): number[] => [0x20, local];
export const set = (local: number): number[] => [0x21, local];
export const tee = (local: number): number[] => [0x22, local];
export const integer = (value: number): number[] => [0x41, ...signed(value)];
export const simd = (operation: number): number[] => [0xfd, ...unsigned(operation)];
export const load64 = (offset: number): number[] => [0x29, 3, ...unsigned(offset)];
export const advance = (local: number, bytes: number): number[] => [
  ...get(local),
  ...integer(bytes),
  I32_ADD,
  ...set(local),
];

const I32_IS_ZERO = 0x45;
const I32_XOR = 0x73;
const I32_SHIFT_LEFT = 0x74;
const SELECT = 0x1b;
const IF = [0x04, 0x40];
export const load32 = (offset: number): number[] => [0x28, 2, ...unsigned(offset)];
export const store32 = (offset: number): number[] => [0x36, 2, ...unsigned(offset)];

const CACHE_LINE_BYTES = 64;

/** The locals of `fetchAhead`, by number. */
interface Fetching {
  /** The address of the u32 address of the next row or sketch. */
  readonly places: number;
  /** The number of remaining ones, this one included. */
  readonly count: number;
  /** The bytes of each. */
  readonly bytes: number;
  /** Zero at first; the number of fetched ones that are still to be computed. */
  readonly left: number;
  /** Receives loaded words. They must be stored somewhere, because an unused load is dropped. */
  readonly touched: number;
  readonly next: number;
  readonly at: number;
  readonly end: number;
}

/**
 * Emits code that runs before each computation. Ahead of every `group` it loads a word of each cache line that the
 * group will read, so that all come from memory in parallel. Otherwise the processor reaches a scattered place only
 * after finishing the previous one.
 */
export function fetchAhead({ places, count, bytes, left, touched, next, at, end }: Fetching, group: number): number[] {
  const isLess = [...get(count), ...integer(group), I32_LESS_UNSIGNED];
  const fetched = [...get(count), ...integer(group), ...isLess, SELECT];
  const lines = [
    ...LOOP,
    ...[...get(touched), ...get(at), ...load32(0), I32_XOR, ...set(touched)],
    ...[...get(at), ...integer(CACHE_LINE_BYTES), I32_ADD, ...tee(at)],
    ...[...get(end), I32_LESS_UNSIGNED, ...AGAIN_IF],
    END_BLOCK,
  ];
  return [
    ...[...get(left), I32_IS_ZERO, ...IF],
    ...[...integer(group), ...set(left), ...get(places), ...set(next)],
    ...LOOP,
    ...[...get(next), ...load32(0), ...tee(at), ...get(bytes), I32_ADD, ...set(end)],
    ...lines,
    ...[...get(next), ...integer(4), I32_ADD, ...tee(next)],
    ...[...get(places), ...fetched, ...integer(2), I32_SHIFT_LEFT, I32_ADD, I32_LESS_UNSIGNED, ...AGAIN_IF],
    END_BLOCK,
    END_BLOCK,
    ...[...get(left), ...integer(1), I32_SUB, ...set(left)],
  ];
}

/**
 * A module with one function of five i32 parameters over memory `e.m`. `locals`: number and type of the locals after
 * the parameters.
 */
export function moduleOf(
  locals: readonly (readonly [count: number, type: number])[],
  body: readonly number[],
): WasmModule {
  const code = [...list(locals.map(([count, type]) => [...unsigned(count), type])), ...body, END_BLOCK];
  const bytes = [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([[0x60, ...list(Array.from({ length: 5 }, () => [I32])), 0]])),
    ...section(2, list([[...text('e'), ...text('m'), 0x02, 0x00, 1]])),
    ...section(3, list([[0]])),
    ...section(7, list([[...text('k'), 0x00, 0]])),
    ...section(10, list([[...unsigned(code.length), ...code]])),
  ];
  return new wasm.Module(Uint8Array.from(bytes));
}

/** The module's function over `memory`. */
export function instantiate(module: WasmModule, memory: WasmMemory): unknown {
  return new wasm.Instance(module, { e: { m: memory } }).exports['k'];
}

export function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value];
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  for (; value < -64 || value > 63; value >>= 7) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value & 0x7f];
}

function list(items: readonly (readonly number[])[]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function section(id: number, bytes: readonly number[]): number[] {
  return [id, ...unsigned(bytes.length), ...bytes];
}

function text(name: string): number[] {
  return [...unsigned(name.length), ...Buffer.from(name, 'latin1')];
}
