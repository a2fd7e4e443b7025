// The cross-encoder of the operator that has the role rerank. It is loaded when it is first needed, and closed when the
// role gets another model.
import { EmbedError } from '../../embed/embedder.ts';
import { OnnxReranker } from '../../embed/onnx/reranker.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { LocalModels } from '../embedding/local-models.ts';
import type { Logger } from '../log.ts';
import type { Order } from './reranker.ts';
import { type Assignment, OWN_MODELS } from './roles.ts';

export class LocalReranker {
  readonly #models: Pick<LocalModels, 'folderOf'>;
  readonly #assigned: () => Assignment | null;
  readonly #log: Pick<Logger, 'warn'>;
  #open: { readonly model: string; readonly reranker: OnnxReranker } | undefined;

  /** `assigned`: the model of the role rerank now. */
  constructor(parts: {
    readonly localModels: Pick<LocalModels, 'folderOf'>;
    readonly assigned: () => Assignment | null;
    readonly log: Pick<Logger, 'warn'>;
  }) {
    this.#models = parts.localModels;
    this.#assigned = parts.assigned;
    this.#log = parts.log;
  }

  /** The name of the model, if a model of this process has the role. */
  get model(): string | undefined {
    const assigned = this.#assigned();
    return assigned?.provider === OWN_MODELS ? assigned.model : undefined;
  }

  /** Loads a model. LLM-E003 when there is none of that name, LLM-E002 when it cannot be used. */
  async check(model: string): Promise<void> {
    const reranker = new OnnxReranker(this.#folderOf(model));
    try {
      await reranker.load();
    } catch (error) {
      if (error instanceof EmbedError) throw new EngineError('LLM-E002', error.message);
      throw error;
    } finally {
      await reranker.close();
    }
  }

  /**
   * Indexes of passages, best first. A passage that is not scored in time keeps its place. Throws LLM-E002, LLM-E003.
   */
  async order(model: string, question: string, passages: readonly string[], timeoutMs: number): Promise<Order> {
    try {
      return orderOf(await this.#opened(model).score(question, passages, timeoutMs));
    } catch (error) {
      if (error instanceof EmbedError) throw new EngineError('LLM-E002', error.message);
      throw error;
    }
  }

  #opened(model: string): OnnxReranker {
    if (this.#open?.model === model) return this.#open.reranker;
    void this.#open?.reranker.close();
    const reranker = new OnnxReranker(this.#folderOf(model), { log: this.#log });
    this.#open = { model, reranker };
    return reranker;
  }

  #folderOf(model: string): string {
    const folder = this.#models.folderOf(model);
    if (folder !== undefined) return folder;
    throw new EngineError('LLM-E003', `there is no model ${JSON.stringify(model)} in models/: granary model list`);
  }

  async close(): Promise<void> {
    await this.#open?.reranker.close();
  }
}

/** Passages with a score share the places that they have, the best first; the others keep theirs. */
export function orderOf(scores: readonly (number | undefined)[]): Order {
  const scored = [...scores.keys()].filter((at) => scores[at] !== undefined);
  const best = scored.toSorted((one, other) => scores[other]! - scores[one]! || one - other);
  let next = 0;
  return scores.map((score, at) => (score === undefined ? at : best[next++]!));
}
