// Matrices of the encoder in eight bits. A weight is kept as a signed byte times the scale of its output channel. Each
// row of the input, which belongs to one token, gets a scale of its own (dynamic quantisation), so that no vector depends
// on the other texts of a run. The product is exact in 32-bit integers. The graph's other operators stay in float32.
import type { OnnxGraph } from './onnx-writer.ts';
import type { Tensor } from './weights.ts';

/** Greatest absolute value of a byte that is only looked up: symmetric, so the zero point is 0. */
const LOOKED_UP_MAX = 127;
/**
 * That of a byte that is multiplied. Processors without VNNI add two products of an unsigned and a signed byte in 16 bits:
 * 2 · 255 · 63 fits, 2 · 255 · 127 would be cut off, and the vectors would depend on the processor.
 */
const MULTIPLIED_MAX = 63;
/** Inputs are unsigned bytes: this one is 0, and the greatest absolute value of a row is this far from it. */
const ZERO = 128;
const INPUT_MAX = 127;
/** Least scale of a row, for a row of zeros. */
const SCALE_MIN = 1e-20;

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
  const rows = values.length / columns;
  // A scale is that of group row · byRow + column · byColumn. The loops run seven million times at a first start.
  const [byRow, byColumn] = per === 'row' ? [1, 0] : [0, 1];
  const scales = new Float32Array(per === 'row' ? rows : columns);
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i++) {
      const group = row * byRow + column * byColumn;
      const scale = Math.abs(values[i]!) / bytesMax;
      if (scale > scales[group]!) scales[group] = scale;
    }
  }
  const bytes = new Int8Array(values.length);
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i++) {
      const scale = scales[row * byRow + column * byColumn]!;
      bytes[i] = scale === 0 ? 0 : Math.max(-bytesMax, Math.min(bytesMax, Math.round(values[i]! / scale)));
    }
  }
  return { bytes, scales };
}

/** x · kernel + bias with the kernel in bytes, one scale for each output channel. */
export function denseInt8(graph: OnnxGraph, x: string, kernel: Tensor, bias: Tensor): string {
  const shape = kernel.shape.slice(-2);
  const { bytes, scales } = quantise(kernel.values, { columns: shape[1]!, per: 'column', bytesMax: MULTIPLIED_MAX });
  const number = (value: number): string => graph.floats(Float32Array.of(value), []);
  const most = graph.node('ReduceMax', [graph.node('Abs', [x])], { axes: [-1], keepdims: 1 });
  const scale = graph.node('Max', [graph.node('Mul', [most, number(1 / INPUT_MAX)]), number(SCALE_MIN)]);
  // All values are positive now, so the cast, which drops decimals, rounds to the nearest byte.
  const moved = graph.node('Add', [graph.node('Div', [x, scale]), number(ZERO + 0.5)]);
  const product = graph.node('MatMulInteger', [graph.toByte(moved), graph.bytes(bytes, shape), graph.byte(ZERO)]);
  const byColumn = graph.node('Mul', [graph.toFloat(product), graph.floats(scales, [shape[1]!])]);
  return graph.node('Add', [graph.node('Mul', [byColumn, scale]), graph.floats(bias.values, bias.shape)]);
}

/** The rows of a table that `ids` names, with the table in bytes and one scale for each row. */
export function gatherInt8(graph: OnnxGraph, ids: string, table: Tensor): string {
  const [rows, columns] = table.shape as readonly [number, number];
  const { bytes, scales } = quantise(table.values, { columns, per: 'row', bytesMax: LOOKED_UP_MAX });
  const found = graph.toFloat(graph.node('Gather', [graph.bytes(bytes, [rows, columns]), ids]));
  return graph.node('Mul', [found, graph.node('Gather', [graph.floats(scales, [rows, 1]), ids])]);
}
