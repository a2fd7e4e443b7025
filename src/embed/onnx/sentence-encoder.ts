// Encodes texts with a model of the operator: tokenizer, graph and pooling. It lives in the thread.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { InferenceSession } from 'onnxruntime-web';
import { ENCODER_TEXT_CHARS_MAX, VECTOR_DIMENSIONS_MAX } from '../../engine/base/limits.ts';
import { hasNativeRuntime, openSession, type RuntimeName, type Session } from '../builtin/runtime.ts';
import { unitVector } from '../unit-vector.ts';
import { feedsOf, unknownInputs } from './feeds.ts';
import { readModelFolder, type SentenceModel, unusable } from './model-folder.ts';
import { ONNX_NAME_START } from './name.ts';
import { pooled } from './pooling.ts';
import { TextTokens, type Tokens } from './text-tokens.ts';

export interface SentenceEncoderOptions {
  readonly folder: string;
  /** `auto` uses onnxruntime-node if it is installed. */
  readonly runtime: RuntimeName | 'auto';
}

/** Outputs with the vector of the sentence, and with the vectors of the tokens, in the order in which they are taken. */
const SENTENCE_OUTPUTS = ['sentence_embedding', 'sentence_embeddings'];
const TOKEN_OUTPUTS = ['last_hidden_state', 'token_embeddings', 'hidden_states', 'output_0'];
const PROBE = 'The vector of these words has the length of all others.';

export class OnnxSentenceEncoder {
  /** Name of the folder and digest of what decides about vectors: models of one name give equal vectors. */
  readonly name: string;
  readonly runtime: RuntimeName;
  readonly notices: readonly string[] = [];
  readonly #model: SentenceModel;
  readonly #tokens: TextTokens;
  readonly #opened: Session;
  readonly #output: { readonly name: string; readonly isSentence: boolean };
  #dimensions = 0;

  private constructor(model: SentenceModel, tokens: TextTokens, { opened, name }: { opened: Session; name: string }) {
    this.name = name;
    this.runtime = opened.name;
    this.#model = model;
    this.#tokens = tokens;
    this.#opened = opened;
    this.#output = outputOf(opened.session, model);
  }

  /** Rejects with EmbedError, never retryable: the folder, the model or a runtime cannot be used. */
  static async load({ folder, runtime }: SentenceEncoderOptions): Promise<OnnxSentenceEncoder> {
    const model = readModelFolder(folder);
    const tokens = new TextTokens(model);
    const bytes = readFileSync(model.modelFile);
    const weights = model.weightFiles.map((path) => ({ path: basename(path), data: readFileSync(path) }));
    const name = nameOf(model, [bytes, ...weights.map(({ data }) => data)]);
    const wanted = runtime === 'auto' ? (hasNativeRuntime() ? 'native' : 'wasm') : runtime;
    let opened: Session;
    try {
      opened = await openSession(wanted, bytes, weights);
    } catch (cause) {
      throw unusable(folder, `the ${wanted} runtime cannot load it: ${messageOf(cause)}`, cause);
    }
    const encoder = new OnnxSentenceEncoder(model, tokens, { opened, name });
    const probe = await encoder.encode(PROBE, 'backlog');
    if (probe === undefined) throw unusable(folder, 'it gives no vector for a plain English sentence');
    if (probe.length > VECTOR_DIMENSIONS_MAX)
      throw unusable(folder, `its vectors have ${probe.length} numbers, of at most ${VECTOR_DIMENSIONS_MAX}`);
    encoder.#dimensions = probe.length;
    return encoder;
  }

  get dimensions(): number {
    return this.#dimensions;
  }

  /** The unit vector of `text`; undefined when no token belongs to a known word. */
  async encode(text: string, priority: 'query' | 'backlog'): Promise<Float32Array | undefined> {
    const { queryPrefix, passagePrefix } = this.#model;
    const start = text.slice(0, ENCODER_TEXT_CHARS_MAX);
    if (start.trim() === '') return undefined;
    const tokens = this.#tokens.of((priority === 'query' ? queryPrefix : passagePrefix) + start);
    return tokens.hasWord ? unitVector(await this.#run(tokens)) : undefined;
  }

  async #run(tokens: Tokens): Promise<Float32Array> {
    const { name, isSentence } = this.#output;
    const { data, dims } = (await this.#opened.session.run(feedsOf(this.#opened, tokens), [name]))[name]!;
    const numbers = data instanceof Float32Array ? data : Float32Array.from(data as ArrayLike<number>);
    return isSentence ? numbers : pooled(numbers, tokens.ids.length, dims.at(-1)!, this.#model.pooling);
  }
}

function outputOf(session: InferenceSession, { modelFile, needsWholeGraph }: SentenceModel) {
  const problem = unknownInputs(session);
  if (problem !== undefined) throw unusable(modelFile, problem);
  const { outputNames } = session;
  const sentence = SENTENCE_OUTPUTS.find((name) => outputNames.includes(name));
  if (sentence !== undefined) return { name: sentence, isSentence: true };
  if (needsWholeGraph)
    throw unusable(
      modelFile,
      `modules.json names a module after pooling: export the graph with ${SENTENCE_OUTPUTS[0]}`,
    );
  const tokens = TOKEN_OUTPUTS.find((name) => outputNames.includes(name)) ?? outputNames[0];
  if (tokens === undefined) throw unusable(modelFile, 'it has no output');
  return { name: tokens, isSentence: false };
}

function nameOf(model: SentenceModel, weights: readonly Uint8Array[]): string {
  const { pooling, tokensMax, queryPrefix, passagePrefix, lowersCase } = model;
  const hash = createHash('sha256');
  for (const bytes of weights) hash.update(bytes);
  hash.update(readFileSync(model.tokenizerFile));
  hash.update(JSON.stringify([pooling, tokensMax, queryPrefix, passagePrefix, lowersCase]));
  return `${ONNX_NAME_START}${model.name}/${hash.digest('hex').slice(0, 12)}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
