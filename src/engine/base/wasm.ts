// Types for the parts of WebAssembly in use, which Node's types lack.

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** Adds pages of 64 KiB; `buffer` is then a new object. */
  grow(pages: number): number;
}

export type WasmModule = object;

interface Wasm {
  readonly Memory: new (size: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (
    module: WasmModule,
    imports: Readonly<Record<string, Readonly<Record<string, WasmMemory>>>>,
  ) => { readonly exports: Readonly<Record<string, unknown>> };
}

export const wasm = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly; // The global of that name.
