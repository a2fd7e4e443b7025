// The Universal Sentence Encoder (lite, English; Cer et al. 2018) as an ONNX graph: embeddings with a timing signal,
// two transformer layers (norm first, four heads), the mean over tokens, and one tanh layer. It takes texts of n tokens
// each, so it needs no padding and no mask. The other texts of a run change no vector.
import { EMBED_WINDOW_PIECES_MAX } from '../../engine/base/limits.ts';
import { denseInt8, gatherInt8 } from './int8.ts';
import { OnnxGraph } from './onnx-writer.ts';
import type { Tensor, Weights } from './weights.ts';

export const ENCODER_DIMENSIONS = 512;
/** Input (texts × n 32-bit ids) and output (texts × 512 floats, not normalised) of the graph. */
export const ENCODER_INPUT = 'ids';
export const ENCODER_OUTPUT = 'sentence';

/** How the matrices are kept and multiplied: in 32-bit floats, or in bytes (a quarter of the size). */
export type Precision = 'fp32' | 'int8';

type Dense = (graph: OnnxGraph, x: string, kernel: Tensor, bias: Tensor) => string;

const HEADS = 4;
const WIDTHS = [256, 512] as const;

/** The ONNX model of `weights`: the same bytes for the same weights and precision. */
export function encoderGraph(weights: Weights, precision: Precision): Uint8Array {
  const dense: Dense = precision === 'int8' ? denseInt8 : denseFloat;
  const graph = new OnnxGraph();
  const ids = graph.input(ENCODER_INPUT, ['texts', 'n']);
  const embeddings = weights.endingIn('Embeddings_en');
  // The original graph adds each embedding to itself once.
  const doubled = { shape: embeddings.shape, values: embeddings.values.map((value) => 2 * value) };
  const embedded =
    precision === 'int8'
      ? gatherInt8(graph, ids, doubled)
      : graph.node('Gather', [graph.floats(doubled.values, doubled.shape), ids]);
  const rates = weights.endingIn('TimingSignal/ExpandDims_1').values;
  const timing = graph.floats(timingSignal(rates), [EMBED_WINDOW_PIECES_MAX, 2 * rates.length]);
  const count = graph.node('Shape', [ids], { start: 1 });
  const positions = graph.node('Slice', [timing, graph.integers([0]), count, graph.integers([0])]);
  let x = graph.node('Add', [embedded, positions]);
  for (const layer of [0, 1] as const) x = transformerLayer(graph, weights, { layer, dense }, x);
  const mean = graph.node('ReduceMean', [x], { axes: [1], keepdims: 0 });
  const last = dense(graph, mean, weights.endingIn('tanh_layer_0/weights'), weights.endingIn('tanh_layer_0/bias'));
  graph.rename(graph.node('Tanh', [last]), ENCODER_OUTPUT);
  graph.output(ENCODER_OUTPUT, ['texts', ENCODER_DIMENSIONS]);
  return graph.finish();
}

/** Row p: sin(p · rate) of all rates, then their cosines, in the precision of the model (float32). */
function timingSignal(rates: Float32Array): Float32Array {
  const width = 2 * rates.length;
  const signal = new Float32Array(EMBED_WINDOW_PIECES_MAX * width);
  for (let position = 0; position < EMBED_WINDOW_PIECES_MAX; position++) {
    for (const [j, rate] of rates.entries()) {
      const angle = Math.fround(position * rate);
      signal[position * width + j] = Math.sin(angle);
      signal[position * width + rates.length + j] = Math.cos(angle);
    }
  }
  return signal;
}

function transformerLayer(
  graph: OnnxGraph,
  weights: Weights,
  { layer, dense }: { readonly layer: 0 | 1; readonly dense: Dense },
  x: string,
): string {
  const width = WIDTHS[layer];
  const prefix = `Layer_${layer}/TransformerLayer`;
  const at = (name: string): Tensor => weights.endingIn(`${prefix}/${name}`);
  const bias = (name: string): Tensor => at(`${name}/bias/ConcatPartitions/concat`);
  // The graph was folded: its norms share one remaining epsilon.
  const epsilon = { float: weights.scalar('layer_prepostprocess/layer_norm/Cast/x') };
  const norm = (value: string, name: string): string =>
    graph.node(
      'LayerNormalization',
      [
        value,
        ...['scale', 'bias'].map((part) => {
          const { values, shape } = weights.endingIn(
            `Encode/${prefix}/${name}layer_prepostprocess/layer_norm/layer_norm_${part}/ConcatPartitions/concat`,
          );
          return graph.floats(values, shape);
        }),
      ],
      { axis: -1, epsilon },
    );

  // Only the first layer changes the width, so only its residual needs a projection.
  const residual = layer === 0 ? dense(graph, x, at('dense/kernel/ConcatPartitions/concat'), bias('dense')) : x;
  const mixed = attention(graph, norm(x, ''), width, {
    qkv: at('MultiheadAttention/qkv_transform_single/kernel/part_0'),
    qkvBias: bias('MultiheadAttention/qkv_transform_single'),
    dense,
  });
  const output = dense(
    graph,
    mixed,
    at('MultiheadAttention/output_transform_single/kernel/part_0'),
    bias('MultiheadAttention/output_transform_single'),
  );
  const h = graph.node('Add', [output, residual]);
  const wide = graph.node('Relu', [
    dense(graph, norm(h, 'FFN/'), at('FFN/conv1/Tensordot/Reshape_1'), bias('FFN/conv1')),
  ]);
  return graph.node('Add', [dense(graph, wide, at('FFN/conv2/Tensordot/Reshape_1'), bias('FFN/conv2')), h]);
}

/** Scaled dot-product attention of every head over all tokens of a text: texts × n × width to the same. */
function attention(
  graph: OnnxGraph,
  x: string,
  width: number,
  { qkv, qkvBias, dense }: { readonly qkv: Tensor; readonly qkvBias: Tensor; readonly dense: Dense },
): string {
  const perHead = width / HEADS;
  const [query, key, value] = graph.nodes('Split', [dense(graph, x, qkv, qkvBias)], 3, { axis: -1 });
  const split = graph.integers([0, 0, HEADS, perHead]);
  const heads = (all: string, perm: readonly number[]): string =>
    graph.node('Transpose', [graph.node('Reshape', [all, split])], { perm });
  const scale = graph.floats(Float32Array.of(1 / Math.sqrt(perHead)), []);
  const scaled = graph.node('Mul', [heads(query!, [0, 2, 1, 3]), scale]);
  const shares = graph.node('Softmax', [graph.node('MatMul', [scaled, heads(key!, [0, 2, 3, 1])])], { axis: -1 });
  const mixed = graph.node('MatMul', [shares, heads(value!, [0, 2, 1, 3])]);
  const joined = graph.node('Transpose', [mixed], { perm: [0, 2, 1, 3] });
  return graph.node('Reshape', [joined, graph.integers([0, 0, width])]);
}

/** x · kernel + bias. The kernel of a convolution over single tokens is a matrix in its last two dimensions. */
function denseFloat(graph: OnnxGraph, x: string, kernel: Tensor, bias: Tensor): string {
  const product = graph.node('MatMul', [x, graph.floats(kernel.values, kernel.shape.slice(-2))]);
  return graph.node('Add', [product, graph.floats(bias.values, bias.shape)]);
}
