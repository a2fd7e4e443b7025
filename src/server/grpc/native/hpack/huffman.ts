// The Huffman code of RFC 7541, appendix B. It is canonical: codes of one length are consecutive, in the order of their
// symbols, and follow those of shorter lengths. So the lengths say everything.
import type { BlockWriter } from './block.ts';
import { HpackError } from './hpack-error.ts';

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const chars = (text: string): number[] => [...Buffer.from(text)];

/** The end of a string, which no string may contain. */
const EOS = 256;

/** Symbols by the number of bits of their code. */
const SYMBOLS: Readonly<Record<number, readonly number[]>> = {
  5: chars('012aceiost'),
  6: chars(' %-./3456789=A_bdfghlmnpru'),
  7: chars(':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz'),
  8: chars('&*,;XZ'),
  10: chars('!"()?'),
  11: chars("'+|"),
  12: chars('#>'),
  13: [0, ...chars('$@[]~')],
  14: chars('^}'),
  15: chars('<`{'),
  19: [92, 195, 208],
  20: [128, 130, 131, 162, 184, 194, 224, 226],
  21: [153, 161, 167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230],
  22: [
    ...[129, 132, 133, 134, 136, 146, 154, 156, 160, 163, 164, 169, 170, 173, 178],
    ...[181, 185, 186, 187, 189, 190, 196, 198, 228, 232, 233],
  ],
  23: [
    ...[1, 135, 137, 138, 139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158],
    ...[165, 166, 168, 174, 175, 180, 182, 183, 188, 191, 197, 231, 239],
  ],
  24: [9, 142, 144, 145, 148, 159, 171, 206, 215, 225, 236, 237],
  25: [199, 207, 234, 235],
  26: [192, 193, 200, 201, 202, 205, 210, 213, 218, 219, 238, 240, 242, 243, 255],
  27: [203, 204, 211, 212, 214, 221, 222, 223, 241, ...range(244, 248), ...range(250, 254)],
  28: [...range(2, 8), 11, 12, ...range(14, 21), ...range(23, 31), 127, 220, 249],
  30: [10, 13, 22, EOS],
};

/** By symbol. */
const CODES = new Uint32Array(EOS + 1);
const BITS = new Uint8Array(EOS + 1);

const STATE_MASK = 0xfff;
const EMITS = 0x1000;
const FAILS = 0x2000;
const SYMBOL_SHIFT = 16;

interface Machine {
  /** By state and half octet: the next state, whether the step emits a symbol, and which one. */
  readonly steps: Uint32Array;
  /** By state: 1 where a string may end. Section 5.2: padding is the most significant bits of EOS, at most seven. */
  readonly ends: Uint8Array;
}

/**
 * A state of decoding is an inner node of the code's tree: the bits read since the last symbol. Half an octet is read at a
 * time; no code is shorter, so that a step completes at most one symbol.
 */
const { steps: STEPS, ends: ENDS }: Machine = buildMachine();

function buildMachine(): Machine {
  assignCodes();
  /** By node and bit: a further node, or a symbol as -1 - symbol. */
  const children: [number, number][] = [[0, 0]];
  for (let symbol = 0; symbol <= EOS; symbol++) insert(children, symbol);
  const steps = new Uint32Array(children.length * 16);
  for (let state = 0; state < children.length; state++)
    for (let half = 0; half < 16; half++) steps[state * 16 + half] = stepFrom(children, state, half);
  const ends = new Uint8Array(children.length);
  for (let state = 0, bits = 0; bits < 8; bits++) {
    ends[state] = 1;
    state = children[state]![1];
  }
  return { steps, ends };
}

function assignCodes(): void {
  let code = 0;
  let length = 0;
  for (const [bits, symbols] of Object.entries(SYMBOLS)) {
    code <<= Number(bits) - length;
    length = Number(bits);
    for (const symbol of symbols) {
      CODES[symbol] = code;
      BITS[symbol] = length;
      code += 1;
    }
  }
}

function insert(children: [number, number][], symbol: number): void {
  let node = 0;
  for (let bit = BITS[symbol]! - 1; bit > 0; bit--) {
    const branch = (CODES[symbol]! >>> bit) & 1;
    if (children[node]![branch] === 0) children[node]![branch] = children.push([0, 0]) - 1;
    node = children[node]![branch]!;
  }
  children[node]![CODES[symbol]! & 1] = -1 - symbol;
}

function stepFrom(children: readonly [number, number][], state: number, half: number): number {
  let node = state;
  let emitted = 0;
  for (let bit = 3; bit >= 0; bit--) {
    const next = children[node]![(half >> bit) & 1]!;
    if (next === -1 - EOS) return FAILS;
    if (next < 0) emitted = EMITS | ((-1 - next) << SYMBOL_SHIFT);
    node = Math.max(next, 0);
  }
  return emitted | node;
}

let room = Buffer.allocUnsafeSlow(4_096);

/** Decodes a string to text with one character for each octet. Throws HpackError. */
export function huffmanDecoded(bytes: Buffer, start: number, end: number): string {
  // The shortest code has five bits.
  const most = Math.ceil(((end - start) * 8) / 5);
  if (most > room.length) room = Buffer.allocUnsafeSlow(2 * most);
  const out = room;
  let length = 0;
  let state = 0;
  for (let at = start; at < end; at++) {
    const octet = bytes[at]!;
    const first = STEPS[state * 16 + (octet >> 4)]!;
    if ((first & EMITS) !== 0) out[length++] = first >>> SYMBOL_SHIFT;
    const second = STEPS[(first & STATE_MASK) * 16 + (octet & 15)]!;
    if ((second & EMITS) !== 0) out[length++] = second >>> SYMBOL_SHIFT;
    if (((first | second) & FAILS) !== 0) throw new HpackError('a string contains EOS');
    state = second & STATE_MASK;
  }
  if (ENDS[state] !== 1) throw new HpackError('the padding of a string is not that of EOS');
  return out.toString('latin1', 0, length);
}

/** Octets of an encoded text, whose characters are octets. */
export function huffmanLength(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at++) bits += BITS[text.charCodeAt(at) & 0xff]!;
  return Math.ceil(bits / 8);
}

/** Appends an encoded text, whose characters are octets. */
export function writeHuffman(out: BlockWriter, text: string): void {
  // At most seven bits wait; a code is added in parts that fit 32 bits with them.
  let waiting = 0;
  let count = 0;
  const add = (value: number, bits: number): void => {
    waiting = (waiting << bits) | value;
    for (count += bits; count >= 8; ) {
      count -= 8;
      out.octet((waiting >>> count) & 0xff);
    }
    waiting &= (1 << count) - 1;
  };
  for (let at = 0; at < text.length; at++) {
    const symbol = text.charCodeAt(at) & 0xff;
    const [code, bits] = [CODES[symbol]!, BITS[symbol]!];
    if (bits > 16) add(code >>> 16, bits - 16);
    add(code & (bits > 16 ? 0xffff : 0xffff_ffff), Math.min(bits, 16));
  }
  if (count > 0) add((1 << (8 - count)) - 1, 8 - count);
}
