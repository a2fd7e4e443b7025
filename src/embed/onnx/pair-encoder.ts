// Scores pairs of a question and a passage with a cross-encoder of the operator (Nogueira and Cho, 2019): one pass of the
// model over both texts. It lives in the thread. A pair goes through the protocol of texts, with a separator between its
// parts, and its score comes back as a vector of one number.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { hasNativeRuntime, openSession, type RuntimeName, type Session } from '../builtin/runtime.ts';
import { feedsOf, unknownInputs } from './feeds.ts';
import { readModelFolder, unusable } from './model-folder.ts';
import { PAIR_SEPARATOR } from './pair.ts';
import { TextTokens } from './text-tokens.ts';

const LOGITS = 'logits';

export class OnnxPairEncoder {
  readonly dimensions = 1;
  readonly runtime: RuntimeName;
  readonly notices: readonly string[] = [];
  readonly #tokens: TextTokens;
  readonly #opened: Session;

  private constructor(tokens: TextTokens, opened: Session) {
    this.runtime = opened.name;
    this.#tokens = tokens;
    this.#opened = opened;
  }

  /** Rejects with EmbedError, never retryable: the folder, the model or a runtime cannot be used. */
  static async load(folder: string, runtime: RuntimeName | 'auto'): Promise<OnnxPairEncoder> {
    const model = readModelFolder(folder);
    const tokens = new TextTokens(model);
    const weights = model.weightFiles.map((path) => ({ path: basename(path), data: readFileSync(path) }));
    const wanted = runtime === 'auto' ? (hasNativeRuntime() ? 'native' : 'wasm') : runtime;
    let opened: Session;
    try {
      opened = await openSession(wanted, readFileSync(model.modelFile), weights);
    } catch (cause) {
      throw unusable(folder, `the ${wanted} runtime cannot load it`, cause);
    }
    const problem = unknownInputs(opened.session);
    if (problem !== undefined) throw unusable(folder, problem);
    if (!opened.session.outputNames.includes(LOGITS))
      throw unusable(folder, `it has no output ${LOGITS}: it is not a cross-encoder`);
    return new OnnxPairEncoder(tokens, opened);
  }

  /** The score of a pair (`pairOf`), as it is comparable among passages of one question. */
  async encode(pair: string): Promise<Float32Array> {
    const [question = '', passage = ''] = pair.split(PAIR_SEPARATOR);
    const tokens = this.#tokens.ofPair(question, passage);
    const { data } = (await this.#opened.session.run(feedsOf(this.#opened, tokens), [LOGITS]))[LOGITS]!;
    const logits = Float32Array.from(data as ArrayLike<number>);
    // With two classes, the second one says that the passage fits.
    return Float32Array.of(logits.length > 1 ? logits[1]! - logits[0]! : logits[0]!);
  }
}
