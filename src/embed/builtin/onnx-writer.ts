// Writes a graph as an ONNX model, with only the messages of onnx.proto3 that are needed. The bytes depend only on the
// graph.
//
//   ModelProto      1 ir_version, 2 producer_name, 7 graph, 8 opset_import {1 domain, 2 version}
//   GraphProto      1 node, 2 name, 5 initializer, 11 input, 12 output
//   NodeProto       1 input, 2 output, 4 op_type, 5 attribute
//   AttributeProto  1 name, 2 f, 3 i, 8 ints, 20 type (1 FLOAT, 2 INT, 7 INTS)
//   TensorProto     1 dims, 2 data_type, 8 name, 9 raw_data
//   ValueInfoProto  1 name, 2 type {1 tensor_type {1 elem_type, 2 shape {1 dim {1 dim_value | 2 dim_param}}}}
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

const FLOAT = 1;
const UINT8 = 2;
const INT8 = 3;
const INT32 = 6;
const INT64 = 7;
const OPSET = 17;
/** The file format version that introduced that operator set. */
const IR_VERSION = 8;

type Attribute = number | readonly number[] | { readonly float: number };

/** Collects nodes and constants. Every method returns the name of the value it creates. */
export class OnnxGraph {
  readonly #nodes: Uint8Array[] = [];
  readonly #initializers: Uint8Array[] = [];
  readonly #inputs: Uint8Array[] = [];
  readonly #outputs: Uint8Array[] = [];
  #names = 0;

  /** An input of 32-bit integers. A dimension given as a string is free. */
  input(name: string, shape: readonly (number | string)[]): string {
    this.#inputs.push(valueInfo(name, INT32, shape));
    return name;
  }

  output(name: string, shape: readonly (number | string)[]): void {
    this.#outputs.push(valueInfo(name, FLOAT, shape));
  }

  floats(values: Float32Array, shape: readonly number[]): string {
    return this.#constant(FLOAT, shape, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }

  bytes(values: Int8Array, shape: readonly number[]): string {
    return this.#constant(INT8, shape, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }

  /** One unsigned byte. */
  byte(value: number): string {
    return this.#constant(UINT8, [], Uint8Array.of(value));
  }

  integers(values: readonly number[]): string {
    return this.#constant(INT64, [values.length], new Uint8Array(BigInt64Array.from(values, BigInt).buffer));
  }

  /** Adds one operator. Integer attributes become INT, lists INTS, and `{ float }` FLOAT. */
  node(operator: string, inputs: readonly string[], attributes: Readonly<Record<string, Attribute>> = {}): string {
    return this.nodes(operator, inputs, 1, attributes)[0]!;
  }

  /** The same for an operator with several outputs. */
  nodes(
    operator: string,
    inputs: readonly string[],
    count: number,
    attributes: Readonly<Record<string, Attribute>> = {},
  ): string[] {
    const outputs = Array.from({ length: count }, () => this.#name());
    this.#node(operator, inputs, outputs, attributes);
    return outputs;
  }

  /** The same numbers as 32-bit floats. */
  toFloat(value: string): string {
    return this.node('Cast', [value], { to: FLOAT });
  }

  /** The same numbers as unsigned bytes, without their decimals. */
  toByte(value: string): string {
    return this.node('Cast', [value], { to: UINT8 });
  }

  /** Gives a value its public name. */
  rename(value: string, name: string): void {
    this.#node('Identity', [value], [name], {});
  }

  finish(): Uint8Array {
    const graph = new BinaryWriter();
    for (const node of this.#nodes) graph.tag(1, WireType.LengthDelimited).bytes(node);
    graph.tag(2, WireType.LengthDelimited).string('encoder');
    for (const tensor of this.#initializers) graph.tag(5, WireType.LengthDelimited).bytes(tensor);
    for (const input of this.#inputs) graph.tag(11, WireType.LengthDelimited).bytes(input);
    for (const output of this.#outputs) graph.tag(12, WireType.LengthDelimited).bytes(output);
    const opset = new BinaryWriter().tag(1, WireType.LengthDelimited).string('').tag(2, WireType.Varint).int64(OPSET);
    return new BinaryWriter()
      .tag(1, WireType.Varint)
      .int64(IR_VERSION)
      .tag(2, WireType.LengthDelimited)
      .string('granary')
      .tag(7, WireType.LengthDelimited)
      .bytes(graph.finish())
      .tag(8, WireType.LengthDelimited)
      .bytes(opset.finish())
      .finish();
  }

  #node(
    operator: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>>,
  ): void {
    const node = new BinaryWriter();
    for (const input of inputs) node.tag(1, WireType.LengthDelimited).string(input);
    for (const output of outputs) node.tag(2, WireType.LengthDelimited).string(output);
    node.tag(4, WireType.LengthDelimited).string(operator);
    for (const [name, value] of Object.entries(attributes))
      node.tag(5, WireType.LengthDelimited).bytes(attribute(name, value));
    this.#nodes.push(node.finish());
  }

  #constant(type: number, shape: readonly number[], raw: Uint8Array): string {
    const name = this.#name();
    const tensor = new BinaryWriter();
    for (const size of shape) tensor.tag(1, WireType.Varint).int64(size);
    tensor.tag(2, WireType.Varint).int32(type).tag(8, WireType.LengthDelimited).string(name);
    tensor.tag(9, WireType.LengthDelimited).bytes(raw);
    this.#initializers.push(tensor.finish());
    return name;
  }

  #name(): string {
    return `v${this.#names++}`;
  }
}

function attribute(name: string, value: Attribute): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(name);
  if (typeof value === 'number') {
    writer.tag(3, WireType.Varint).int64(value).tag(20, WireType.Varint).int32(2);
  } else if ('float' in value) {
    writer.tag(2, WireType.Bit32).float(value.float).tag(20, WireType.Varint).int32(1);
  } else {
    for (const each of value) writer.tag(8, WireType.Varint).int64(each);
    writer.tag(20, WireType.Varint).int32(7);
  }
  return writer.finish();
}

function valueInfo(name: string, type: number, shape: readonly (number | string)[]): Uint8Array {
  const dimensions = new BinaryWriter();
  for (const size of shape) {
    dimensions.tag(1, WireType.LengthDelimited).fork();
    if (typeof size === 'string') dimensions.tag(2, WireType.LengthDelimited).string(size);
    else dimensions.tag(1, WireType.Varint).int64(size);
    dimensions.join();
  }
  const tensor = new BinaryWriter().tag(1, WireType.Varint).int32(type);
  tensor.tag(2, WireType.LengthDelimited).bytes(dimensions.finish());
  const typed = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(tensor.finish());
  return new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(name)
    .tag(2, WireType.LengthDelimited)
    .bytes(typed.finish())
    .finish();
}
