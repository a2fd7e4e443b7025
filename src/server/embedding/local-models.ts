// The operator's sentence models: folders in `models/` of the data directory, and the one that --embedder-model names.
import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { EmbedError } from '../../embed/embedder.ts';
import { readModelFolder } from '../../embed/onnx/model-folder.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { Config } from '../config.ts';

/** Folder of models in the data directory. The built-in one is cached there too. */
export const MODELS_FOLDER = 'models';

/** Names of models: they stand in `vector_backend` and in paths. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function isModelName(name: string): boolean {
  return NAME.test(name);
}

export class LocalModels {
  readonly #folder: string;
  /** Folder that --embedder-model names, if it is outside. */
  readonly #outside: string | undefined;
  /** Name of the model that --embedder-model names. */
  readonly own: string | undefined;

  constructor({ dataDir, embedderModel }: Pick<Config, 'dataDir' | 'embedderModel'>) {
    this.#folder = join(dataDir, MODELS_FOLDER);
    const isPath = embedderModel !== undefined && !isModelName(embedderModel);
    this.#outside = isPath
      ? resolve(embedderModel.endsWith(sep) ? embedderModel.slice(0, -1) : embedderModel)
      : undefined;
    this.own = this.#outside === undefined ? embedderModel : basename(this.#outside);
  }

  /** The folder of a model; undefined when there is none of that name. */
  folderOf(name: string): string | undefined {
    if (!isModelName(name)) return undefined;
    if (name === this.own && this.#outside !== undefined) return this.#outside;
    const folder = join(this.#folder, name);
    return existsSync(folder) ? folder : undefined;
  }

  /** Names of the folders in `models/` that are whole. */
  list(): readonly string[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isModelName(entry.name))
      .map(({ name }) => name)
      .toSorted();
  }

  /** Throws VAL-E001 when the model of the options cannot be used. */
  checkOwn(): void {
    if (this.own === undefined) return;
    const folder = this.folderOf(this.own);
    if (folder === undefined)
      throw new EngineError(
        'VAL-E001',
        `--embedder-model: there is no model ${this.own} in ${this.#folder}: granary model pull gets it, or name a folder`,
      );
    try {
      readModelFolder(folder);
    } catch (error) {
      if (!(error instanceof EmbedError)) throw error;
      throw new EngineError('VAL-E001', `--embedder-model: ${error.message}`);
    }
  }
}
