// Writes a folder with a sentence model of a few numbers: the vector of a token is a row of a table.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OnnxGraph } from '../../builtin/onnx-writer.ts';

export const TINY_DIMENSIONS = 8;
const ROWS = 400;

/** Kinds of tokenizers, their ids for `texts` and for the first two as a pair, as the Rust package `tokenizers` gives them. */
export interface TokenizerFixtures {
  readonly texts: readonly string[];
  readonly kinds: Readonly<
    Record<
      'wordpiece' | 'unigram' | 'bpe',
      {
        readonly tokenizer: object;
        readonly ids: readonly (readonly number[])[];
        readonly pair: { readonly ids: readonly number[]; readonly types: readonly number[] };
      }
    >
  >;
}

export function tokenizerFixtures(): TokenizerFixtures {
  const path = new URL('../../../../test/fixtures/tokenizers.json', import.meta.url);
  return JSON.parse(readFileSync(path, 'utf8'));
}

export interface TinyModel {
  readonly kind?: keyof TokenizerFixtures['kinds'];
  /** Names of the graph's inputs and output. */
  readonly inputs?: readonly string[];
  readonly output?: string;
  /** Further JSON files, by their paths. */
  readonly files?: Readonly<Record<string, unknown>>;
}

/** The number in column `column` of the row of token `id`. */
export function tinyValue(id: number, column: number): number {
  return Math.sin(id * TINY_DIMENSIONS + column + 1);
}

/**
 * Writes a cross-encoder: the score of a pair is the mean of the numbers of its tokens' rows (`tinyValue`), over all
 * columns.
 */
export function writeTinyReranker(folder: string): void {
  writeTinyModel(folder);
  const graph = new OnnxGraph();
  const ids = graph.input('input_ids', [1, 'tokens']);
  const types = graph.input('token_type_ids', [1, 'tokens']);
  const means = Float32Array.from({ length: ROWS }, (_, id) => tinyMean(id));
  const rows = graph.node('Gather', [graph.floats(means, [ROWS, 1]), ids]);
  graph.rename(graph.node('ReduceMean', [rows], { axes: [1], keepdims: 0 }), 'logits');
  graph.rename(types, 'unused');
  graph.output('logits', [1, 1]);
  writeFileSync(join(folder, 'model.onnx'), graph.finish());
}

/** Mean of the numbers of a token's row. */
export function tinyMean(id: number): number {
  let sum = 0;
  for (let column = 0; column < TINY_DIMENSIONS; column++) sum += tinyValue(id, column);
  return sum / TINY_DIMENSIONS;
}

export function writeTinyModel(
  folder: string,
  { kind = 'wordpiece', inputs, output, files = {} }: TinyModel = {},
): void {
  mkdirSync(folder, { recursive: true });
  const graph = new OnnxGraph();
  const [ids, ...others] = (inputs ?? ['input_ids', 'attention_mask']).map((name) => graph.input(name, [1, 'tokens']));
  const table = Float32Array.from({ length: ROWS * TINY_DIMENSIONS }, (_, at) =>
    tinyValue(Math.floor(at / TINY_DIMENSIONS), at % TINY_DIMENSIONS),
  );
  const rows = graph.node('Gather', [graph.floats(table, [ROWS, TINY_DIMENSIONS]), ids!]);
  for (const [at, other] of others.entries()) graph.rename(other, `unused_${at}`);
  graph.rename(rows, output ?? 'last_hidden_state');
  graph.output(output ?? 'last_hidden_state', [1, 'tokens', TINY_DIMENSIONS]);
  writeFileSync(join(folder, 'model.onnx'), graph.finish());
  const { tokenizer } = tokenizerFixtures().kinds[kind];
  for (const [name, value] of Object.entries({ 'tokenizer.json': tokenizer, ...files })) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), JSON.stringify(value));
  }
}
