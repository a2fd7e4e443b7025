// Runs the graph on onnxruntime-web (WebAssembly, part of the built package), or on onnxruntime-node, which is two
// to four times as fast but large and downloads on installation, so users install it themselves. Both use one thread:
// cores belong to the shards. Nothing is fetched: the WebAssembly file comes from the package.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type * as onnxruntime from 'onnxruntime-web';
import { defined } from '../../engine/base/defined.ts';
import { ENCODER_INPUT, ENCODER_OUTPUT } from './graph.ts';

export type RuntimeName = 'native' | 'wasm';

export interface Runtime {
  readonly name: RuntimeName;
  /** The graph's output for texts of the same length: 512 numbers for each, not normalised, valid until the next call. */
  run(texts: readonly Int32Array[]): Promise<Float32Array>;
}

const require = createRequire(import.meta.url);

/** Whether onnxruntime-node can be found. */
export function hasNativeRuntime(): boolean {
  try {
    require.resolve('onnxruntime-node');
    return true;
  } catch {
    return false;
  }
}

/** A loaded graph of any model. */
export interface Session {
  readonly name: RuntimeName;
  readonly session: onnxruntime.InferenceSession;
  readonly tensor: (
    type: 'int32' | 'int64',
    values: readonly number[],
    dims: readonly number[],
  ) => onnxruntime.TypedTensor<'int32' | 'int64'>;
}

/** Weights that a graph keeps in files of its own, by the names that it gives them. */
type WeightFiles = readonly { readonly path: string; readonly data: Uint8Array }[];

/** Loads the encoder's graph into onnxruntime-node (`native`) or onnxruntime-web. Rejects with the library's errors. */
export async function openRuntime(name: RuntimeName, model: Uint8Array): Promise<Runtime> {
  const { library, session } = await openGraph(name, model);
  return {
    name,
    run: async (texts) => {
      const { length } = texts[0]!;
      const ids = new Int32Array(texts.length * length);
      for (const [i, one] of texts.entries()) ids.set(one, i * length);
      const input = new library.Tensor('int32', ids, [texts.length, length]);
      const outputs = await session.run({ [ENCODER_INPUT]: input });
      return outputs[ENCODER_OUTPUT]!.data as Float32Array; // the graph's only output holds floats
    },
  };
}

/** The same for any graph. */
export async function openSession(name: RuntimeName, model: Uint8Array, weights: WeightFiles = []): Promise<Session> {
  const { library, session } = await openGraph(name, model, weights);
  return {
    name,
    session,
    tensor: (type, values, dims) =>
      type === 'int32'
        ? new library.Tensor('int32', Int32Array.from(values), dims)
        : new library.Tensor('int64', BigInt64Array.from(values, BigInt), dims),
  };
}

async function openGraph(name: RuntimeName, model: Uint8Array, weights: WeightFiles = []) {
  const library = name === 'native' ? nativeLibrary() : await wasmLibrary();
  library.env.logLevel = 'error';
  const session = await library.InferenceSession.create(
    model,
    defined({
      executionProviders: [name === 'native' ? 'cpu' : 'wasm'],
      graphOptimizationLevel: 'all',
      executionMode: 'sequential',
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      externalData: weights.length === 0 ? undefined : weights,
    }),
  );
  // Frees 12 MB that are not needed after compilation.
  if (name === 'wasm') delete library.env.wasm.wasmBinary;
  return { library, session };
}

function nativeLibrary(): typeof onnxruntime {
  return require('onnxruntime-node') as typeof onnxruntime; // both packages have the interface of onnxruntime-common
}

async function wasmLibrary(): Promise<typeof onnxruntime> {
  const library = await import('onnxruntime-web');
  library.env.wasm.numThreads = 1;
  library.env.wasm.wasmPaths = { mjs: fileOf('ort-wasm-simd-threaded.mjs').href };
  library.env.wasm.wasmBinary = readFileSync(fileURLToPath(fileOf('ort-wasm-simd-threaded.wasm')));
  return library;
}

/** A file of onnxruntime-web: the build places it beside this module, the sources find the package. */
function fileOf(name: string): URL {
  const built = new URL(name, import.meta.url);
  return existsSync(built) ? built : pathToFileURL(require.resolve(`onnxruntime-web/${name}`));
}
