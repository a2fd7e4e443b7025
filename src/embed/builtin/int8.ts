// Matrices of the encoder in eight bits. A weight is kept as a signed byte times the scale of its output channel; what
// comes in is brought to unsigned bytes by the range of each run (dynamic quantisation), and the product is exact in
// 32-bit integers. The graph's other operators stay in float32.
import type { OnnxGraph } from './onnx-writer.ts';
import type { Tensor } from './weights.ts';

/** Greatest absolute value of a byte that is only looked up: symmetric, so the zero point is 0. */
const LOOKED_UP_MAX = 127;
/**
 * That of a byte that is multiplied. Processors without VNNI add two products of an unsigned and a signed byte in 16 bits:
 * 2 · 255 · 63 fits, 2 · 255 · 127 would be cut off, and the vectors would depend on the processor.
 */
const MULTIPLIED_MAX = 63;

export interface Quantised {
  /** As the matrix, row by row. */
  readonly bytes: Int8Array;
  /** One for each column, or for each row: the value of a byte is itself times its scale. */
  readonly scales: Float32Array;
}

/**
 * Quantises a matrix of `columns` columns with one scale for each column (`column`) or row (`row`). No byte exceeds
 * `bytesMax` in absolute value.
 */
export function quantise(
  values: Float32Array,
  { columns, per, bytesMax }: { readonly columns: number; readonly per: 'column' | 'row'; readonly bytesMax: number },
): Quantised {
  const groups = per === 'column' ? columns : values.length / columns;
  const groupOf = (i: number): number => (per === 'column' ? i % columns : Math.floor(i / columns));
  const scales = new Float32Array(groups);
  for (const [i, value] of values.entries()) {
    const group = groupOf(i);
    scales[group] = Math.max(scales[group]!, Math.abs(value) / bytesMax);
  }
  const bytes = new Int8Array(values.length);
  for (const [i, value] of values.entries()) {
    const scale = scales[groupOf(i)]!;
    bytes[i] = scale === 0 ? 0 : Math.max(-bytesMax, Math.min(bytesMax, Math.round(value / scale)));
  }
  return { bytes, scales };
}

/** x · kernel + bias with the kernel in bytes, one scale for each output channel. */
export function denseInt8(graph: OnnxGraph, x: string, kernel: Tensor, bias: Tensor): string {
  const shape = kernel.shape.slice(-2);
  const { bytes, scales } = quantise(kernel.values, { columns: shape[1]!, per: 'column', bytesMax: MULTIPLIED_MAX });
  const [quantised, scale, zero] = graph.nodes('DynamicQuantizeLinear', [x], 3);
  const product = graph.node('MatMulInteger', [quantised!, graph.bytes(bytes, shape), zero!]);
  const scaling = graph.node('Mul', [scale!, graph.floats(scales, [shape[1]!])]);
  const floats = graph.node('Mul', [graph.toFloat(product), scaling]);
  return graph.node('Add', [floats, graph.floats(bias.values, bias.shape)]);
}

/** The rows of a table that `ids` names, with the table in bytes and one scale for each row. */
export function gatherInt8(graph: OnnxGraph, ids: string, table: Tensor): string {
  const [rows, columns] = table.shape as readonly [number, number];
  const { bytes, scales } = quantise(table.values, { columns, per: 'row', bytesMax: LOOKED_UP_MAX });
  const found = graph.toFloat(graph.node('Gather', [graph.bytes(bytes, [rows, columns]), ids]));
  return graph.node('Mul', [found, graph.node('Gather', [graph.floats(scales, [rows, 1]), ids])]);
}
