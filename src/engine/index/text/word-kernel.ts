// Finds the words of a text and their terms' numbers, as a WebAssembly function over the text's UTF-8. It knows Latin-1
// characters and general punctuation; at any other character it gives up. Its word table is in the same memory: an entry
// is half a cache line, and a word is hashed and compared as three 64-bit numbers, so a known word costs one access that
// the processor's cache may miss. ASCII letters are passed 16 at a time.
//
//   memory := kinds of bytes 256   kinds of Latin-1 characters 128   kinds of general punctuation 128
//             masks: for each length of a word, the three 64-bit masks of its bytes
//             state   text   found words: (number, position)*   entry*
//   entry  := tag u32 (0: free, STOP_TAG: a stop word, otherwise the term's number + NUMBER_TAG), hash u32,
//             the word in UTF-8, padded with zeros 24
import { randomBytes } from 'node:crypto';
import type { WasmMemory, WasmModule } from '../../base/wasm.ts';
import {
  AGAIN_IF,
  ELSE,
  END_BLOCK,
  get,
  I32,
  I32_ADD,
  I32_AND,
  I32_IS_ZERO,
  I32_OR,
  I32_SHIFT_LEFT,
  I32_SHIFT_RIGHT,
  I32_SUB,
  I64,
  I64_ADD,
  I64_AND,
  I64_MULTIPLY,
  I64_OR,
  I64_SHIFT_RIGHT,
  I64_XOR,
  IF,
  instantiateAll,
  integer,
  integer64,
  LOOP,
  load32,
  load64,
  moduleWith,
  set,
  simd,
  store32,
  tee,
  unsigned,
  V128,
} from '../../base/wasm-code.ts';

/** Longer words are rare and are not in the table. */
export const TABLE_WORD_BYTES_MAX = 24;
/** Entries that are probed for a word. A word that finds no free entry there is not stored. */
export const PROBES_MAX = 32;

/** Kinds of characters. */
export const SEPARATOR = 0;
export const LETTER = 1;
export const APOSTROPHE = 2;
export const GIVE_UP = 3;
const KIND_MASK = 7;
/** A kind in the table of bytes has the length of the character above these bits, or is LONGER. */
const LENGTH_SHIFT = 3;
/** The first byte of a character of several bytes. */
const LONGER = 128;

const LATIN_AT = 256;
const PUNCTUATION_AT = LATIN_AT + 128;
const MASKS_AT = PUNCTUATION_AT + 128;
const MASK_BYTES = 24;
/** Where the function stopped: start and end of the word, its hash, the position, the end of the found words. */
export const STATE_AT = 2_048;
export const TEXT_AT = 4_096;
/** UTF-16 units of one call. A unit takes at most three bytes of UTF-8. */
export const TEXT_UNITS_MAX = 8_192;
const TEXT_BYTES_MAX = TEXT_UNITS_MAX * 3;
export const FOUND_AT = TEXT_AT + TEXT_BYTES_MAX + 4_096;
/** Bytes of a found word. Two words have a separator between them. */
export const FOUND_BYTES = 8;
export const TABLE_AT = 131_072;
export const ENTRY_BYTES = 32;
export const ENTRY_HASH = 4;
export const ENTRY_WORD = 8;
export const STOP_TAG = 1;
export const NUMBER_TAG = 2;

/** Results of the function. */
export const DONE = 0;
/** It stopped at a word that is not in the table. */
export const UNKNOWN_WORD = 1;
export const GAVE_UP = 2;

/**
 * Scans the UTF-8 from `at` to `end - 1` and writes the found words to `out`. `position` is that of the next word.
 * `joins` is 1 when an inner apostrophe joins. `mask`: entries of the table - 1.
 */
export type WordKernel = (
  at: number,
  end: number,
  position: number,
  out: number,
  joins: number,
  mask: number,
) => typeof DONE | typeof UNKNOWN_WORD | typeof GAVE_UP;

const [AT, END, POSITION, OUT, JOINS, MASK, KIND, START, NEXT, SLOT, PROBES, ENTRY, HASH, FIRST, SECOND, THIRD, BYTES] =
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] as const;

const BLOCK = [0x02, 0x40];
const IF_I32 = [0x04, I32];
const I32_EQUALS = 0x46;
const I32_DIFFERS = 0x47;
const I32_EXCEEDS = 0x4b;
const I32_REACHES = 0x4f;
const I64_IS_ZERO = 0x50;
const TRAILING_ZEROS = 0x68;
const LOW_32 = 0xa7;
/** Instructions on 16 bytes. */
const LOAD = 0x00;
const LESS = 0x26;
const NOT = 0x4d;
const OR = 0x50;
const BITS = 0x64;
const SUBTRACT = 0x71;
const RETURN = 0x0f;
const load8 = (offset: number): number[] => [0x2d, 0, ...unsigned(offset)];
const call = (index: number): number[] => [0x10, ...unsigned(index)];
const again = (depth: number): number[] => [0x0c, depth];
const leaveIf = (depth: number): number[] => [0x0d, depth];

/**
 * The kind and length of the character of several bytes at AT: C2 and C3 begin Latin-1, E2 80 and E2 81 general
 * punctuation.
 */
function longerKind(): number[] {
  const byte = (offset: number): number[] => [...get(AT), ...load8(offset)];
  const continued = (offset: number): number[] => [...byte(offset), ...integer(63), I32_AND];
  const latin = [...byte(0), ...integer(1), I32_AND, ...integer(6), I32_SHIFT_LEFT, ...continued(1), I32_OR];
  const punctuation = [...byte(1), ...integer(1), I32_AND, ...integer(6), I32_SHIFT_LEFT, ...continued(2), I32_OR];
  return [
    ...[...byte(0), ...integer(0xfe), I32_AND, ...integer(0xc2), I32_EQUALS, ...IF_I32],
    ...[...latin, ...load8(LATIN_AT), ...integer(2 << LENGTH_SHIFT), I32_OR],
    ELSE,
    ...[...byte(0), ...integer(0xe2), I32_EQUALS],
    ...[...byte(1), ...integer(0xfe), I32_AND, ...integer(0x80), I32_EQUALS, I32_AND, ...IF_I32],
    ...[...punctuation, ...load8(PUNCTUATION_AT), ...integer(3 << LENGTH_SHIFT), I32_OR],
    ...[ELSE, ...integer(GIVE_UP | (1 << LENGTH_SHIFT)), END_BLOCK],
    END_BLOCK,
  ];
}

/** Leaves the kind and length of the character at `at` in KIND. */
function takeKind(at: number): number[] {
  return [
    ...[...get(at), ...load8(0), ...load8(0), ...tee(KIND), ...integer(LONGER), I32_EQUALS],
    ...[...IF, ...get(at), ...call(0), ...set(KIND), END_BLOCK],
  ];
}

const isKind = (kind: number, comparison: number): number[] => [
  ...[...get(KIND), ...integer(KIND_MASK), I32_AND, ...integer(kind), comparison],
];
/** Moves `to` to the end of the character at `from`. */
const pass = (from: number, to: number): number[] => [
  ...[...get(from), ...get(KIND), ...integer(LENGTH_SHIFT), I32_SHIFT_RIGHT, I32_ADD, ...set(to)],
];

/** Moves AT over at most 16 ASCII letters and digits at once. */
function passLetters(): number[] {
  const all = (byte: string): number[] => [...simd(0x0c), ...new Uint8Array(16).fill(byte.charCodeAt(0))];
  const below = (count: number): number[] => [...simd(0x0c), ...new Uint8Array(16).fill(count), ...simd(LESS)];
  const letters = [...get(BYTES), ...all(' '), ...simd(OR), ...all('a'), ...simd(SUBTRACT), ...below(26)];
  const digits = [...get(BYTES), ...all('0'), ...simd(SUBTRACT), ...below(10)];
  return [
    ...[...get(AT), ...simd(LOAD), 0, 0, ...set(BYTES)],
    ...[...letters, ...digits, ...simd(OR), ...simd(NOT), ...simd(BITS), ...integer(1 << 16), I32_OR, TRAILING_ZEROS],
    ...[...get(AT), I32_ADD, ...set(AT)],
  ];
}

/** AT is behind the first letter of a word, and is moved to its end. */
function restOfWord(): number[] {
  return [
    ...[...BLOCK, ...LOOP],
    ...[...get(AT), ...get(END), I32_REACHES, ...leaveIf(1), ...takeKind(AT)],
    ...[...isKind(LETTER, I32_EQUALS), ...IF, ...pass(AT, AT), ...again(1), END_BLOCK],
    ...[...isKind(APOSTROPHE, I32_DIFFERS), ...leaveIf(1)],
    ...[...get(JOINS), I32_IS_ZERO, ...leaveIf(1)],
    ...[...pass(AT, NEXT), ...get(NEXT), ...get(END), I32_REACHES, ...leaveIf(1), ...takeKind(NEXT)],
    ...[...isKind(LETTER, I32_DIFFERS), ...leaveIf(1), ...pass(NEXT, AT), ...again(0)],
    ...[END_BLOCK, END_BLOCK],
  ];
}

/** Loads the word's bytes, padded with zeros. */
function takeWord(): number[] {
  const mask = [...get(AT), ...get(START), I32_SUB, ...integer(MASK_BYTES), 0x6c];
  const part = (number: number, into: number): number[] => [
    ...[...get(START), ...load64(8 * number), ...get(NEXT), ...load64(MASKS_AT + 8 * number), I64_AND, ...set(into)],
  ];
  return [...mask, ...set(NEXT), ...part(0, FIRST), ...part(1, SECOND), ...part(2, THIRD)];
}

/**
 * Leaves the hash of the word in HASH: the high half of a sum of products of its 32-bit parts with random 64-bit numbers
 * (multilinear hashing), which is universal. So nobody can choose words that collide.
 */
function hashWord(factors: readonly bigint[]): number[] {
  const product = (part: readonly number[], factor: bigint): number[] => [...part, ...integer64(factor), I64_MULTIPLY];
  const low = (word: number): number[] => [...get(word), ...integer64(0xffff_ffffn), I64_AND];
  const high = (word: number): number[] => [...get(word), ...integer64(32n), I64_SHIFT_RIGHT];
  const parts = [FIRST, SECOND, THIRD].flatMap((word) => [low(word), high(word)]);
  return [
    ...integer64(factors[parts.length]!),
    ...parts.flatMap((part, i) => [...product(part, factors[i]!), I64_ADD]),
    ...[...integer64(32n), I64_SHIFT_RIGHT, LOW_32, ...set(HASH)],
  ];
}

const STATE = [START, AT, HASH, POSITION, OUT] as const;
const stop = (result: number): number[] => [
  ...STATE.flatMap((local, i) => [...integer(STATE_AT + 4 * i), ...get(local), ...store32(0)]),
  ...[...integer(result), RETURN],
];

/** Leaves the word's entry in ENTRY, or stops. */
function findWord(): number[] {
  const differs = (number: number, word: number): number[] => [
    ...[...get(ENTRY), ...load64(ENTRY_WORD + 8 * number), ...get(word), I64_XOR],
  ];
  return [
    ...[...get(HASH), ...get(MASK), I32_AND, ...set(SLOT), ...integer(PROBES_MAX), ...set(PROBES)],
    ...[...BLOCK, ...LOOP],
    ...[...get(SLOT), ...integer(5), I32_SHIFT_LEFT, ...integer(TABLE_AT), I32_ADD, ...tee(ENTRY)],
    ...[...load32(0), I32_IS_ZERO, ...IF, ...stop(UNKNOWN_WORD), END_BLOCK],
    ...[...differs(0, FIRST), ...differs(1, SECOND), I64_OR, ...differs(2, THIRD), I64_OR, I64_IS_ZERO, ...leaveIf(1)],
    ...[...get(SLOT), ...integer(1), I32_ADD, ...get(MASK), I32_AND, ...set(SLOT)],
    ...[...get(PROBES), ...integer(1), I32_SUB, ...tee(PROBES), ...AGAIN_IF],
    ...[...stop(UNKNOWN_WORD), END_BLOCK, END_BLOCK],
  ];
}

/** Writes the number and position of the word at ENTRY, unless it is a stop word. */
function takeTerm(): number[] {
  return [
    ...[...get(ENTRY), ...load32(0), ...integer(STOP_TAG), I32_DIFFERS, ...IF],
    ...[...get(OUT), ...get(ENTRY), ...load32(0), ...integer(NUMBER_TAG), I32_SUB, ...store32(0)],
    ...[...get(OUT), ...get(POSITION), ...store32(4), ...get(OUT), ...integer(FOUND_BYTES), I32_ADD, ...set(OUT)],
    END_BLOCK,
    ...[...get(POSITION), ...integer(1), I32_ADD, ...set(POSITION)],
  ];
}

function scan(factors: readonly bigint[]): number[] {
  return [
    // Ends the last word.
    ...[...get(END), ...integer(0), ...store32(0)],
    ...LOOP,
    ...[...get(AT), ...get(END), I32_REACHES, ...IF, ...stop(DONE), END_BLOCK],
    ...[...takeKind(AT), ...get(AT), ...set(START), ...pass(AT, AT)],
    ...[...isKind(LETTER, I32_DIFFERS), ...IF],
    ...[...isKind(GIVE_UP, I32_EQUALS), ...IF, ...stop(GAVE_UP), END_BLOCK],
    ...[...again(1), END_BLOCK],
    ...[...passLetters(), ...restOfWord()],
    ...[...get(AT), ...get(START), I32_SUB, ...integer(TABLE_WORD_BYTES_MAX), I32_EXCEEDS],
    ...[...IF, ...stop(UNKNOWN_WORD), END_BLOCK],
    ...[...takeWord(), ...hashWord(factors), ...findWord(), ...takeTerm(), ...again(0)],
    END_BLOCK,
    ...integer(DONE),
  ];
}

let compiled: WasmModule | undefined;

/** The kernel over `memory`, whose tables it fills. `kindOf` tells the kind of a character. */
export function makeWordKernel(memory: WasmMemory, kindOf: (code: number) => number): WordKernel {
  compiled ??= moduleWith({
    kind: { parameters: [I32], results: [I32], locals: [], body: longerKind() },
    scan: {
      parameters: [I32, I32, I32, I32, I32, I32],
      results: [I32],
      locals: [
        [7, I32],
        [3, I64],
        [1, V128],
      ],
      body: scan(Array.from({ length: 7 }, () => randomBytes(8).readBigInt64LE())),
    },
  });
  const bytes = new Uint8Array(memory.buffer);
  for (let byte = 0; byte < 256; byte++) bytes[byte] = byte < 128 ? kindOf(byte) | (1 << LENGTH_SHIFT) : LONGER;
  for (let i = 0; i < 128; i++) {
    bytes[LATIN_AT + i] = kindOf(128 + i);
    bytes[PUNCTUATION_AT + i] = kindOf(0x2000 + i);
  }
  for (let length = 0; length <= TABLE_WORD_BYTES_MAX; length++)
    bytes.fill(255, MASKS_AT + length * MASK_BYTES, MASKS_AT + length * MASK_BYTES + length);
  return instantiateAll(compiled, memory)['scan'] as WordKernel; // The type of `scan`'s code.
}
