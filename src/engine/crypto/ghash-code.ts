// The two WebAssembly functions behind `gcm-batch.ts`: counter blocks, and XOR with GHASH, for many messages of one key.
//
// GHASH multiplies in GF(2^128) by 64-bit carry-less products. WebAssembly has no instruction for these, so a product is
// made of integer products of every fourth bit, whose carries fall into the gaps (the method of BearSSL's ghash_ctmul64,
// described at bearssl.org/constanttime.html). Products of the high halves come from reversed operands. No branch, address
// or shift depends on key, plaintext or ciphertext: only on lengths, which are public.
//
// An entry of the table has ENTRY_BYTES bytes: u32 address of the message, u32 bytes of the additional data, u32 bytes of the
// body, u32 unused, 12 bytes of nonce, u32 unused. A message is the additional data, padded with zeros to whole blocks, the
// body in whole blocks, and a block for the lengths that becomes the tag.
import type { WasmMemory, WasmModule } from '../base/wasm.ts';
import {
  AGAIN_IF,
  ELSE,
  END_BLOCK,
  get,
  I32,
  I32_ADD,
  I32_AND,
  I32_LESS_UNSIGNED,
  I32_OR,
  I32_SHIFT_LEFT,
  I32_SHIFT_RIGHT,
  I32_SUB,
  I64,
  I64_AND,
  I64_MULTIPLY,
  I64_OR,
  I64_SHIFT_LEFT,
  I64_SHIFT_RIGHT,
  I64_XOR,
  IF,
  instantiateAll,
  integer,
  integer64,
  LOOP,
  load32,
  load64,
  load128,
  moduleWith,
  set,
  simd,
  store32,
  tee,
  unsigned,
  V128,
  type WasmFunction,
} from '../base/wasm-code.ts';

/** Bytes of a table's entry, and where its members are. */
export const ENTRY_BYTES = 32;
export const ENTRY = { message: 0, additionalBytes: 4, bodyBytes: 8, nonce: 16 } as const;
export const BLOCK_BYTES = 16;

export interface GcmKernel {
  /**
   * Writes the counter blocks of `count` messages (at least 1) to `to`: for each one the block of the tag, then one for each
   * block of the body.
   */
  counters(table: number, count: number, to: number): void;
  /**
   * Encrypts (`opens` 0) or decrypts (1) the bodies of `count` messages in place with the enciphered counter blocks at
   * `stream`, and writes each tag behind its body. `h`: the 16 bytes of the enciphered zero block.
   */
  run(table: number, count: number, h: number, stream: number, opens: number): void;
}

type Code = readonly number[];

const I32_AT_MOST_UNSIGNED = 0x4d;
const I64_FROM_I32 = 0xad;

const store128: Code = [...simd(11), 4, 0];
const store64 = (offset: number): Code => [0x37, 3, ...unsigned(offset)];
const xor128 = simd(81);
/** Reverses the order of 16 bytes: big-endian in memory to numbers in lanes. The operand comes twice. */
const reverseBytes: Code = [...simd(13), ...Array.from({ length: 16 }, (_, i) => 15 - i)];
const lane = (at: 0 | 1): Code => [...simd(29), at];
const splat64: Code = simd(18);
const replaceLane = (at: 0 | 1): Code => [...simd(30), at];

const joined = (operation: number, [first, ...others]: readonly Code[]): Code => [
  ...(first ?? []),
  ...others.flatMap((code) => [...code, operation]),
];
const xor = (...codes: Code[]): Code => joined(I64_XOR, codes);
const or = (...codes: Code[]): Code => joined(I64_OR, codes);
const and = (code: Code, mask: bigint): Code => [...code, ...integer64(mask), I64_AND];
const times = (one: Code, other: Code): Code => [...one, ...other, I64_MULTIPLY];
const left = (code: Code, bits: number): Code => [...code, ...integer64(BigInt(bits)), I64_SHIFT_LEFT];
const right = (code: Code, bits: number): Code => [...code, ...integer64(BigInt(bits)), I64_SHIFT_RIGHT];

/** Gives numbers to the locals of a function, in the order in which they are first named. */
class Locals {
  readonly #types: number[] = [];
  readonly #first: number;
  readonly #numbers = new Map<string, number>();

  constructor(parameters: number) {
    this.#first = parameters;
  }

  get all(): WasmFunction['locals'] {
    return this.#types.map((type) => [1, type] as const);
  }

  of(name: string, type: number): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#types.push(type);
    const number = this.#first + this.#types.length - 1;
    this.#numbers.set(name, number);
    return number;
  }
}

/** Every fourth bit, from the given one on. */
const EVERY_FOURTH = [
  0x1111_1111_1111_1111n,
  0x2222_2222_2222_2222n,
  0x4444_4444_4444_4444n,
  0x8888_8888_8888_8888n,
] as const;

/** Writes functions whose numbers of 64 bits have names. */
class Writer {
  readonly #locals: Locals;

  constructor(locals: Locals) {
    this.#locals = locals;
  }

  value(name: string): Code {
    return get(this.#locals.of(name, I64));
  }

  assign(name: string, code: Code): Code {
    return [...code, ...set(this.#locals.of(name, I64))];
  }

  /** The value with its bits in reverse order. Uses the local `r`. */
  reversed(code: Code): Code {
    const r = this.value('r');
    const swapped = (mask: bigint, bits: number): Code =>
      this.assign('r', or(left(and(r, mask), bits), and(right(r, bits), mask)));
    return [
      ...this.assign('r', code),
      ...swapped(0x5555_5555_5555_5555n, 1),
      ...swapped(0x3333_3333_3333_3333n, 2),
      ...swapped(0x0f0f_0f0f_0f0f_0f0fn, 4),
      ...swapped(0x00ff_00ff_00ff_00ffn, 8),
      ...swapped(0x0000_ffff_0000_ffffn, 16),
      ...or(left(r, 32), right(r, 32)),
    ];
  }

  /** Splits a factor into its four sets of bits: `name`0 to `name`3. */
  split(name: string, code: Code): Code {
    const whole = this.value(name);
    return [
      ...this.assign(name, code),
      ...EVERY_FOURTH.flatMap((mask, i) => this.assign(`${name}.${i}`, and(whole, mask))),
    ];
  }

  /** The low 64 bits of the carry-less product of a number with a factor that was split. */
  product(of: Code, factor: string): Code {
    const x = (i: number): Code => this.value(`x.${i & 3}`);
    const y = (i: number): Code => this.value(`${factor}.${i & 3}`);
    const parts = EVERY_FOURTH.map((mask, i) =>
      and(xor(...[0, 1, 2, 3].map((j) => times(x(j), y((i - j + 4) & 3)))), mask),
    );
    return [...this.split('x', of), ...or(...parts)];
  }
}

const FACTORS = ['h0', 'h1', 'h2', 'h0r', 'h1r', 'h2r'] as const;

/** The hash key at `h`: its halves, their sum, and all three reversed. */
function hashKey(w: Writer, h: number): Code {
  const reversed = w.value('x');
  return [
    ...w.assign('x', [...get(h), ...load128(0), ...get(h), ...load128(0), ...reverseBytes, ...lane(1)]),
    ...w.split('h1', reversed),
    ...w.assign('x', [...get(h), ...load128(0), ...get(h), ...load128(0), ...reverseBytes, ...lane(0)]),
    ...w.split('h0', reversed),
    ...w.split('h2', xor(w.value('h0'), w.value('h1'))),
    ...w.split('h0r', w.reversed(w.value('h0'))),
    ...w.split('h1r', w.reversed(w.value('h1'))),
    ...w.split('h2r', xor(w.value('h0r'), w.value('h1r'))),
  ];
}

/** Multiplies y ^ block by the hash key: the next y. `block` is the address of 16 bytes. */
function absorb(w: Writer, block: number): Code {
  const v = (name: string): Code => w.value(name);
  const half = (at: 0 | 1): Code => [
    ...get(block),
    ...load128(0),
    ...get(block),
    ...load128(0),
    ...reverseBytes,
    ...lane(at),
  ];
  const high = (code: Code): Code => right(w.reversed(code), 1);
  const reduced = (name: string): Code => xor(v(name), right(v(name), 1), right(v(name), 2), right(v(name), 7));
  const carried = (name: string): Code => xor(left(v(name), 63), left(v(name), 62), left(v(name), 57));
  const [h0, h1, h2, h0r, h1r, h2r] = FACTORS;
  return [
    ...w.assign('a1', xor(v('y1'), half(1))),
    ...w.assign('a0', xor(v('y0'), half(0))),
    ...w.assign('a0r', w.reversed(v('a0'))),
    ...w.assign('a1r', w.reversed(v('a1'))),
    ...w.assign('z0', w.product(v('a0'), h0)),
    ...w.assign('z1', w.product(v('a1'), h1)),
    ...w.assign('z2', w.product(xor(v('a0'), v('a1')), h2)),
    ...w.assign('z0h', w.product(v('a0r'), h0r)),
    ...w.assign('z1h', w.product(v('a1r'), h1r)),
    ...w.assign('z2h', w.product(xor(v('a0r'), v('a1r')), h2r)),
    ...w.assign('z2', xor(v('z2'), v('z0'), v('z1'))),
    ...w.assign('z2h', xor(v('z2h'), v('z0h'), v('z1h'))),
    ...w.assign('z0h', high(v('z0h'))),
    ...w.assign('z1h', high(v('z1h'))),
    ...w.assign('z2h', high(v('z2h'))),
    ...w.assign('v1', xor(v('z0h'), v('z2'))),
    ...w.assign('v2', xor(v('z1'), v('z2h'))),
    // The reflected product is one bit to the right of its place.
    ...w.assign('v3', or(left(v('z1h'), 1), right(v('v2'), 63))),
    ...w.assign('v2', or(left(v('v2'), 1), right(v('v1'), 63))),
    ...w.assign('v1', or(left(v('v1'), 1), right(v('z0'), 63))),
    ...w.assign('v0', left(v('z0'), 1)),
    ...w.assign('v2', xor(v('v2'), reduced('v0'))),
    ...w.assign('v1', xor(v('v1'), carried('v0'))),
    ...w.assign('y1', xor(v('v3'), reduced('v1'))),
    ...w.assign('y0', xor(v('v2'), carried('v1'))),
  ];
}

/** Bytes to whole blocks: (code + 15) & ~15. */
const wholeBlocks = (code: Code): Code => [...code, ...integer(15), I32_ADD, ...integer(-16), I32_AND];

/** `body` runs with `at` from its value in steps of 16 bytes while it is below `end`; it may run never. */
function eachBlock(at: number, end: number, body: Code): Code {
  const below: Code = [...get(at), ...get(end), I32_LESS_UNSIGNED];
  return [
    ...[...below, ...IF],
    ...[...LOOP, ...body, ...get(at), ...integer(BLOCK_BYTES), I32_ADD, ...set(at), ...below, ...AGAIN_IF, END_BLOCK],
    END_BLOCK,
  ];
}

/** The numbers of the parameters and locals of `run`. */
const [TABLE, COUNT, HASH_KEY, STREAM, OPENS] = [0, 1, 2, 3, 4] as const;
const LENGTH_BLOCK: Code = integer(BLOCK_BYTES);

/** The i32 locals of `run`. */
interface Places {
  readonly at: number;
  readonly end: number;
  readonly body: number;
  /** Behind the body's last block, where the lengths and then the tag are. */
  readonly bodyEnd: number;
  /** The next block of the key stream. */
  readonly key: number;
  /** Bytes in the body's last block, if it is not whole. */
  readonly last: number;
}

/** body ^= key stream, block by block; `key` then points behind the message's stream. */
function crypt({ at, end, body, bodyEnd, key }: Places): Code {
  return [
    ...[...get(body), ...set(at), ...get(bodyEnd), ...set(end)],
    ...eachBlock(at, end, [
      ...[...get(at), ...get(at), ...load128(0), ...get(key), ...load128(0), ...xor128, ...store128],
      ...[...get(key), ...integer(BLOCK_BYTES), I32_ADD, ...set(key)],
    ]),
  ];
}

/** Bytes behind the body in its last block become zero, as GHASH counts them so. */
function pad({ at, bodyEnd, last }: Places): Code {
  /** A mask of the first bytes of the half; there is at least one. */
  const kept = (half: 0 | 1): Code => {
    const bytes: Code = half === 0 ? get(last) : [...get(last), ...integer(8), I32_SUB];
    const bits: Code = [...integer(64), ...bytes, ...integer(3), I32_SHIFT_LEFT, I32_SUB, I64_FROM_I32];
    return [...integer64(-1n), ...bits, I64_SHIFT_RIGHT];
  };
  const masked = (half: 0 | 1): Code => [
    ...[...get(at), ...get(at), ...load64(8 * half), ...kept(half), I64_AND],
    ...store64(8 * half),
  ];
  return [
    ...[...get(TABLE), ...load32(ENTRY.bodyBytes), ...integer(15), I32_AND, ...tee(last), ...IF],
    ...[...get(bodyEnd), ...integer(BLOCK_BYTES), I32_SUB, ...set(at)],
    ...[...get(last), ...integer(8), I32_AT_MOST_UNSIGNED, ...IF],
    ...[...masked(0), ...get(at), ...integer64(0n), ...store64(8)],
    ...[ELSE, ...masked(1)],
    END_BLOCK,
    END_BLOCK,
  ];
}

/** Stores two numbers as 16 bytes in big-endian order, the high one first. */
const storePair = (low: Code, high: Code, change: Code = []): Code => {
  const pair: Code = [...low, ...splat64, ...high, ...replaceLane(1)];
  return [...pair, ...pair, ...reverseBytes, ...change, ...store128];
};

/** GHASH of the whole message, whose lengths it writes behind the body. */
function hash(w: Writer, { at, end, bodyEnd }: Places): Code {
  const bits = (member: number): Code => left([...get(TABLE), ...load32(member), I64_FROM_I32], 3);
  return [
    ...[...get(TABLE), ...load32(ENTRY.message), ...set(at)],
    ...[...get(bodyEnd), ...LENGTH_BLOCK, I32_ADD, ...set(end)],
    ...[...get(bodyEnd), ...storePair(bits(ENTRY.bodyBytes), bits(ENTRY.additionalBytes))],
    ...w.assign('y0', integer64(0n)),
    ...w.assign('y1', integer64(0n)),
    ...eachBlock(at, end, absorb(w, at)),
  ];
}

function runFunction(): WasmFunction {
  const locals = new Locals(5);
  const w = new Writer(locals);
  const place = (name: keyof Places): number => locals.of(name, I32);
  const places: Places = {
    at: place('at'),
    end: place('end'),
    body: place('body'),
    bodyEnd: place('bodyEnd'),
    key: place('key'),
    last: place('last'),
  };
  const { body, bodyEnd, key } = places;
  const member = (at: number): Code => [...get(TABLE), ...load32(at)];
  const code: Code = [
    ...hashKey(w, HASH_KEY),
    ...LOOP,
    ...[...member(ENTRY.message), ...wholeBlocks(member(ENTRY.additionalBytes)), I32_ADD, ...tee(body)],
    ...[...wholeBlocks(member(ENTRY.bodyBytes)), I32_ADD, ...set(bodyEnd)],
    ...[...get(STREAM), ...integer(BLOCK_BYTES), I32_ADD, ...set(key)],
    ...[...get(OPENS), ...IF, ...pad(places), ...hash(w, places), ...crypt(places)],
    ...[ELSE, ...crypt(places), ...pad(places), ...hash(w, places), END_BLOCK],
    ...[...get(bodyEnd), ...storePair(w.value('y0'), w.value('y1'), [...get(STREAM), ...load128(0), ...xor128])],
    ...[...get(key), ...set(STREAM)],
    ...[...get(TABLE), ...integer(ENTRY_BYTES), I32_ADD, ...set(TABLE)],
    ...[...get(COUNT), ...integer(1), I32_SUB, ...tee(COUNT), ...AGAIN_IF],
    END_BLOCK,
  ];
  return { parameters: [I32, I32, I32, I32, I32], locals: locals.all, body: code };
}

function countersFunction(): WasmFunction {
  const [table, count, to] = [0, 1, 2] as const;
  const locals = new Locals(3);
  const block = locals.of('block', V128);
  const number = locals.of('number', I32);
  const blocks = locals.of('blocks', I32);
  // The counter is a big-endian u32 behind the nonce; it starts at 1, and no message has 2^16 blocks.
  const counter: Code = [
    ...[...get(number), ...integer(8), I32_SHIFT_RIGHT, ...integer(16), I32_SHIFT_LEFT],
    ...[...get(number), ...integer(255), I32_AND, ...integer(24), I32_SHIFT_LEFT, I32_OR],
  ];
  const body: Code = [
    ...LOOP,
    ...[...get(table), ...integer(ENTRY.nonce), I32_ADD, ...load128(0), ...set(block)],
    ...[...get(table), ...load32(ENTRY.bodyBytes), ...integer(31), I32_ADD, ...integer(4), I32_SHIFT_RIGHT],
    ...set(blocks),
    ...[...integer(1), ...set(number)],
    ...LOOP,
    ...[...get(to), ...get(block), ...store128],
    ...[...get(to), ...counter, ...store32(12)],
    ...[...get(to), ...integer(BLOCK_BYTES), I32_ADD, ...set(to)],
    ...[...get(number), ...integer(1), I32_ADD, ...tee(number), ...get(blocks), I32_AT_MOST_UNSIGNED, ...AGAIN_IF],
    END_BLOCK,
    ...[...get(table), ...integer(ENTRY_BYTES), I32_ADD, ...set(table)],
    ...[...get(count), ...integer(1), I32_SUB, ...tee(count), ...AGAIN_IF],
    END_BLOCK,
  ];
  return { parameters: [I32, I32, I32], locals: locals.all, body };
}

let compiled: WasmModule | undefined;

/** The kernel over `memory`. */
export function makeGcmKernel(memory: WasmMemory): GcmKernel {
  compiled ??= moduleWith({ run: runFunction(), counters: countersFunction() });
  return instantiateAll(compiled, memory) as unknown as GcmKernel; // The types of the two functions' code.
}
