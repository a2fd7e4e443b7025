// Encodes texts to unit vectors: tokenizer and runtime together. It lives in the thread.
import { ENCODER_TEXT_CHARS_MAX } from '../../engine/base/limits.ts';
import { EmbedError } from '../embedder.ts';
import { unitVector } from '../unit-vector.ts';
import { lowerCapitals } from '../windows.ts';
import { ENCODER_DIMENSIONS, type Precision } from './graph.ts';
import { loadModel } from './model-file.ts';
import { encoderFolder } from './package-files.ts';
import { hasNativeRuntime, openRuntime, type Runtime, type RuntimeName } from './runtime.ts';
import type { Tokenizer } from './tokenizer.ts';
import { readTokenizer } from './vocabulary.ts';

export interface EncoderOptions {
  /** Where the converted model is cached; without it every start converts. */
  readonly cacheFolder?: string | undefined;
  /** Of the matrices. The two give different vectors. */
  readonly precision: Precision;
  /** `auto` uses onnxruntime-node if it is installed and works. */
  readonly runtime: RuntimeName | 'auto';
  /** The thread keeps normal priority. */
  readonly queriesOnly?: boolean | undefined;
  /** Share of a core that the backlog may have (`Pace`). */
  readonly share?: Int32Array | undefined;
}

export class SentenceEncoder {
  readonly runtime: RuntimeName;
  readonly shares = true;
  /** Problems that were worked around while loading. */
  readonly notices: readonly string[];
  readonly #tokenizer: Tokenizer;
  readonly #runtime: Runtime;

  private constructor(tokenizer: Tokenizer, runtime: Runtime, notices: readonly string[]) {
    this.runtime = runtime.name;
    this.notices = notices;
    this.#tokenizer = tokenizer;
    this.#runtime = runtime;
  }

  /** Rejects with EmbedError, never retryable: the package or a runtime is missing. */
  static async load(options: EncoderOptions): Promise<SentenceEncoder> {
    const folder = encoderFolder();
    const tokenizer = readTokenizer(folder);
    const { onnx, notice } = loadModel(folder, options.cacheFolder, options.precision);
    const notices = notice === undefined ? [] : [notice];
    const wanted = options.runtime === 'auto' ? (hasNativeRuntime() ? 'native' : 'wasm') : options.runtime;
    try {
      return new SentenceEncoder(tokenizer, await openRuntime(wanted, onnx), notices);
    } catch (cause) {
      const reason = `the encoder's ${wanted} runtime cannot be loaded: ${messageOf(cause)}`;
      if (options.runtime !== 'auto' || wanted === 'wasm') throw new EmbedError(reason, { retryable: false, cause });
      notices.push(reason);
    }
    try {
      return new SentenceEncoder(tokenizer, await openRuntime('wasm', onnx), notices);
    } catch (cause) {
      throw new EmbedError(`no runtime can be loaded: ${messageOf(cause)}`, { retryable: false, cause });
    }
  }

  /** Ids of the first 128 pieces of `text`; undefined when none of them belongs to a known word. */
  tokensOf(text: string): Int32Array | undefined {
    const ids = this.#tokenizer.encode(lowerCapitals(text.slice(0, ENCODER_TEXT_CHARS_MAX)));
    return this.#tokenizer.hasWord(ids) ? ids : undefined;
  }

  /**
   * The unit vectors of texts with equally many tokens. If the runtime throws, do not use the encoder again: its memory
   * may be corrupt.
   */
  async encodeAll(texts: readonly Int32Array[]): Promise<readonly (Float32Array | undefined)[]> {
    const all = await this.#runtime.run(texts);
    return texts.map((_, i) => unitVector(all.subarray(i * ENCODER_DIMENSIONS, (i + 1) * ENCODER_DIMENSIONS)));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
