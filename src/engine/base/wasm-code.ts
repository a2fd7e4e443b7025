// Writes WebAssembly by hand: the few instructions of the kernels, and a module around their functions.
import { type WasmMemory, type WasmModule, wasm } from './wasm.ts';

export const I32 = 0x7f;
export const I64 = 0x7e;
export const V128 = 0x7b;
export const I32_ADD = 0x6a;
export const I32_SUB = 0x6b;
export const I32_LESS_UNSIGNED = 0x49;
export const I64_ADD = 0x7c;
export const I64_MULTIPLY = 0x7e;
export const I64_AND = 0x83;
export const I64_OR = 0x84;
export const I64_XOR = 0x85;
export const I64_SHIFT_LEFT = 0x86;
export const I64_SHIFT_RIGHT = 0x88;
/** How many of 64 bits are set. */
export const I64_ONES = 0x7b;
export const ZERO64 = [0x42, 0];
export const I32_IS_ZERO = 0x45;
export const I32_AND = 0x71;
export const I32_OR = 0x72;
export const I32_XOR = 0x73;
export const I32_SHIFT_LEFT = 0x74;
export const I32_SHIFT_RIGHT = 0x76;
export const SELECT = 0x1b;
export const IF = [0x04, 0x40];
export const ELSE = 0x05;
export const LOOP = [0x03, 0x40];
export const AGAIN_IF = [0x0d, 0x00];
export const END_BLOCK = 0x0b;

export const get = (local: number): number[] => [0x20, local];
export const set = (local: number): number[] => [0x21, local];
export const tee = (local: number): number[] => [0x22, local];
export const integer = (value: number): number[] => [0x41, ...signed(value)];
export const integer64 = (value: bigint): number[] => [0x42, ...signed64(BigInt.asIntN(64, value))];
export const simd = (operation: number): number[] => [0xfd, ...unsigned(operation)];
export const load32 = (offset: number): number[] => [0x28, 2, ...unsigned(offset)];
export const store32 = (offset: number): number[] => [0x36, 2, ...unsigned(offset)];
export const load64 = (offset: number): number[] => [0x29, 3, ...unsigned(offset)];
export const load128 = (offset: number): number[] => [...simd(0x00), 4, ...unsigned(offset)];
export const advance = (local: number, bytes: number): number[] => [
  ...get(local),
  ...integer(bytes),
  I32_ADD,
  ...set(local),
];

/** Number and type of the locals of a function after its parameters. */
export type Locals = readonly (readonly [count: number, type: number])[];

/** A function, by default without a result. */
export interface WasmFunction {
  /** The types of its parameters. */
  readonly parameters: readonly number[];
  readonly results?: readonly number[];
  readonly locals: Locals;
  readonly body: readonly number[];
}

const FIVE_NUMBERS: readonly number[] = Array.from({ length: 5 }, () => I32);

/** A module with one function of five i32 parameters over memory `e.m`. */
export function moduleOf(locals: Locals, body: readonly number[]): WasmModule {
  return moduleWith({ k: { parameters: FIVE_NUMBERS, locals, body } });
}

/** A module with these functions, by the names of their exports, over memory `e.m`. They call each other by index. */
export function moduleWith(functions: Readonly<Record<string, WasmFunction>>): WasmModule {
  const all = Object.values(functions);
  const types = (of: readonly number[]): number[] => list(of.map((type) => [type]));
  const codeOf = ({ locals, body }: WasmFunction): number[] => {
    const code = [...list(locals.map(([count, type]) => [...unsigned(count), type])), ...body, END_BLOCK];
    return [...unsigned(code.length), ...code];
  };
  const bytes = [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list(all.map(({ parameters, results = [] }) => [0x60, ...types(parameters), ...types(results)]))),
    ...section(2, list([[...text('e'), ...text('m'), 0x02, 0x00, 1]])),
    ...section(3, list(all.map((_, i) => unsigned(i)))),
    ...section(7, list(Object.keys(functions).map((name, i) => [...text(name), 0x00, ...unsigned(i)]))),
    ...section(10, list(all.map(codeOf))),
  ];
  return new wasm.Module(Uint8Array.from(bytes));
}

/** The function of `moduleOf` over `memory`. */
export function instantiate(module: WasmModule, memory: WasmMemory): unknown {
  return instantiateAll(module, memory)['k'];
}

/** The functions of `moduleWith` over `memory`, by name. */
export function instantiateAll(module: WasmModule, memory: WasmMemory): Readonly<Record<string, unknown>> {
  return new wasm.Instance(module, { e: { m: memory } }).exports;
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

function signed64(value: bigint): number[] {
  const bytes: number[] = [];
  for (; value < -64n || value > 63n; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80);
  return [...bytes, Number(value & 0x7fn)];
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
