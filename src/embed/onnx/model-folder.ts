// Reads the description of a sentence model from its folder: an export of sentence-transformers with `model.onnx` and
// `tokenizer.json`. The rest is optional: `modules.json` and the configuration of its modules (pooling, prompts, maximum
// length). `granary-model.json`, if there, takes precedence over them:
//
//   { "file": "onnx/model.onnx", "tokenizer": "tokenizer.json", "pooling": "mean" | "cls" | "last",
//     "max_tokens": 256, "query_prefix": "query: ", "passage_prefix": "passage: ", "lower_case": false }
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { EmbedError } from '../embedder.ts';

export const MODEL_SETTINGS_FILE = 'granary-model.json';
export const TOKENIZER_FILE = 'tokenizer.json';

/** How the vectors of tokens become one: their mean, the first one, or the last one. */
export const POOLINGS = ['mean', 'cls', 'last'] as const;
export type Pooling = (typeof POOLINGS)[number];

export interface SentenceModel {
  /** Name of the folder. */
  readonly name: string;
  /** Paths of the model, of the files that hold its weights if it has them outside, and of its tokenizer. */
  readonly modelFile: string;
  readonly weightFiles: readonly string[];
  readonly tokenizerFile: string;
  /** `tokenizer_config.json`, if it is there. */
  readonly tokenizerConfigFile: string | undefined;
  readonly pooling: Pooling;
  /** Maximum number of tokens, those around the text included. */
  readonly tokensMax: number;
  readonly queryPrefix: string;
  readonly passagePrefix: string;
  /** Texts become lower case before they are split into tokens. */
  readonly lowersCase: boolean;
  /** Modules after pooling change the vector: the graph must have them, and answer with the vector of the sentence. */
  readonly needsWholeGraph: boolean;
}

/** The time of attention grows with the square of the tokens, and no window needs more. */
const TOKENS_MAX = 512;
const MODEL_FILE = 'model.onnx';

/** Throws EmbedError that says what the folder lacks, or what is not supported. */
export function readModelFolder(path: string): SentenceModel {
  const folder = resolve(path);
  if (!existsSync(folder)) throw unusable(folder, 'the folder does not exist');
  const own = readJson(folder, MODEL_SETTINGS_FILE) ?? {};
  const modelFile = modelFileIn(folder, text(own['file']));
  const tokenizerFile = tokenizerIn(folder, modelFile, text(own['tokenizer']));
  const modules = modulesIn(folder);
  const prompts = promptsIn(folder);
  const config = readJson(folder, 'config.json') ?? {};
  const sentence = readJson(folder, 'sentence_bert_config.json') ?? {};
  const tokenizerConfig = join(dirname(tokenizerFile), 'tokenizer_config.json');
  return {
    name: basename(folder),
    modelFile,
    weightFiles: readdirSync(dirname(modelFile))
      .filter((name) => name.startsWith(`${basename(modelFile)}_data`) || name === `${basename(modelFile)}.data`)
      .toSorted()
      .map((name) => join(dirname(modelFile), name)),
    tokenizerFile,
    tokenizerConfigFile: existsSync(tokenizerConfig) ? tokenizerConfig : undefined,
    pooling: poolingOf(folder, text(own['pooling']), modules),
    tokensMax: tokensMaxOf([
      own['max_tokens'],
      sentence['max_seq_length'],
      readJson(dirname(tokenizerFile), 'tokenizer_config.json')?.['model_max_length'],
      config['max_position_embeddings'],
    ]),
    queryPrefix: text(own['query_prefix']) ?? prompts['query'] ?? '',
    passagePrefix: text(own['passage_prefix']) ?? prompts['document'] ?? prompts['passage'] ?? '',
    lowersCase: (own['lower_case'] ?? sentence['do_lower_case']) === true,
    needsWholeGraph: modules.some(({ kind }) => !['Transformer', 'Pooling', 'Normalize'].includes(kind)),
  };
}

function modelFileIn(folder: string, named: string | undefined): string {
  if (named !== undefined) {
    const path = join(folder, named);
    if (existsSync(path)) return path;
    throw unusable(folder, `there is no ${named}, which ${MODEL_SETTINGS_FILE} names`);
  }
  for (const place of ['', 'onnx']) {
    const path = join(folder, place, MODEL_FILE);
    if (existsSync(path)) return path;
  }
  const others = ['', 'onnx'].flatMap((place) => onnxFilesIn(join(folder, place)));
  const [only] = others;
  if (only === undefined) throw unusable(folder, `there is no ${MODEL_FILE}: export the model to ONNX`);
  if (others.length > 1)
    throw unusable(
      folder,
      `it has several models (${others.map((one) => basename(one)).join(', ')}): name one as "file" in ${MODEL_SETTINGS_FILE}`,
    );
  return only;
}

function onnxFilesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.onnx'))
    .map((name) => join(folder, name));
}

function tokenizerIn(folder: string, modelFile: string, named: string | undefined): string {
  const places =
    named === undefined
      ? [join(folder, TOKENIZER_FILE), join(dirname(modelFile), TOKENIZER_FILE)]
      : [join(folder, named)];
  const found = places.find((path) => existsSync(path));
  if (found === undefined)
    throw unusable(folder, `there is no ${named ?? TOKENIZER_FILE}: save the tokenizer in its fast form`);
  return found;
}

interface ModelModule {
  /** Last part of its class name: `Transformer`, `Pooling`, `Normalize`, `Dense` … */
  readonly kind: string;
  readonly path: string;
}

function modulesIn(folder: string): readonly ModelModule[] {
  const list = readJson(folder, 'modules.json');
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).map((module) => ({
    kind: (text(module['type']) ?? '').split('.').at(-1)!,
    path: text(module['path']) ?? '',
  }));
}

/** Modes of sentence-transformers, by the member of the pooling's configuration that switches them on. */
const MODES: Readonly<Record<string, Pooling | undefined>> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_cls_token: 'cls',
  pooling_mode_lasttoken: 'last',
  pooling_mode_max_tokens: undefined,
  pooling_mode_mean_sqrt_len_tokens: undefined,
  pooling_mode_weightedmean_tokens: undefined,
};

/** The mean unless the folder says otherwise, as in sentence-transformers. */
function poolingOf(folder: string, named: string | undefined, modules: readonly ModelModule[]): Pooling {
  const path = modules.find(({ kind }) => kind === 'Pooling')?.path ?? '1_Pooling';
  const config = named === undefined ? readJson(join(folder, path), 'config.json') : undefined;
  const mode = named ?? text(config?.['pooling_mode']);
  const modes = mode !== undefined ? [mode] : Object.keys(MODES).filter((name) => config?.[name] === true);
  if (modes.length === 0) return 'mean';
  const known = modes.map((name) => MODES[name] ?? POOLINGS.find((one) => one === name.replace('lasttoken', 'last')));
  const [pooling] = known;
  if (modes.length > 1 || pooling === undefined)
    throw unusable(folder, `its pooling is ${modes.join(' with ')}; this server supports ${POOLINGS.join(', ')}`);
  if (config?.['include_prompt'] === false)
    throw unusable(folder, 'its pooling leaves out the words of prompts, which this server does not support');
  return pooling;
}

/** Prompts of `config_sentence_transformers.json`, by what they are for. */
function promptsIn(folder: string): Readonly<Record<string, string>> {
  const prompts = readJson(folder, 'config_sentence_transformers.json')?.['prompts'];
  if (!isObject(prompts)) return {};
  return Object.fromEntries(
    Object.entries(prompts).filter((entry): entry is [string, string] => text(entry[1]) !== undefined),
  );
}

/** The first of them that is a number of tokens, within the maximum. Some tokenizers say 10^30 for none. */
function tokensMaxOf(said: readonly unknown[]): number {
  const count = said.find((one): one is number => Number.isInteger(one) && Number(one) >= 8);
  return Math.min(TOKENS_MAX, count ?? TOKENS_MAX);
}

function readJson(folder: string, name: string): Readonly<Record<string, unknown>> | undefined {
  const path = join(folder, name);
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw unusable(folder, `${name} is not JSON`, cause);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function unusable(folder: string, why: string, cause?: unknown): EmbedError {
  return new EmbedError(`the model in ${folder} cannot be used: ${why}`, { retryable: false, cause });
}
