// AES-256-GCM for many short messages under one key, byte for byte as the platform's.
//
// A cipher object of the platform serves one message, and making one costs more than enciphering 300 bytes. Here one object for
// each key in use enciphers the counter blocks of all messages in one call, and a kernel combines them with the messages
// (ghash-code.ts). AES itself stays with the platform.
import { type Cipheriv, createCipheriv, type KeyObject } from 'node:crypto';
import { assert } from '../base/assert.ts';
import { GCM_CIPHERS_MAX } from '../base/limits.ts';
import { type WasmMemory, wasm } from '../base/wasm.ts';
import { BLOCK_BYTES, ENTRY, ENTRY_BYTES, type GcmKernel, makeGcmKernel } from './ghash-code.ts';

export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

/** Messages of a call to the kernel. More are done in several calls. */
const MESSAGES_MAX = 256;
/** The largest body. The platform seals larger ones sooner (`npm run bench -- codec`), as its GHASH is an instruction. */
export const BODY_BYTES_MAX = 1_024;
/** Additional data of a message. */
export const ADDITIONAL_BYTES_MAX = 256;
const PAGE_BYTES = 65_536;

const TABLE_AT = 0;
const HASH_KEY_AT = TABLE_AT + MESSAGES_MAX * ENTRY_BYTES;
const MESSAGES_AT = HASH_KEY_AT + BLOCK_BYTES;
/** Room for a message, with its tag and its counter blocks. */
const MESSAGE_ROOM = 2 * (BODY_BYTES_MAX + 2 * BLOCK_BYTES) + ADDITIONAL_BYTES_MAX + BLOCK_BYTES;
const MEMORY_BYTES = 16 * PAGE_BYTES;

/**
 * Messages to seal. Nonce, ciphertext and tag of a message go to its `into` from `at` on; the bytes from `additionalAt` up
 * to `at` are its additional data.
 */
export interface ToSeal {
  readonly into: readonly Buffer[];
  readonly bodies: readonly Buffer[];
  readonly additionalAt: number;
  readonly at: number;
}

/** Tables that every message under a key needs, kept while the key object lives. */
interface KeyedCipher {
  readonly blocks: Cipheriv;
  /** The enciphered zero block. */
  readonly hashKey: Buffer;
}

// Two generations: when the young one is full it becomes the old one, and keys in use move back. They hold no key object, so
// that a destroyed key goes with its cipher.
let young = new WeakMap<KeyObject, KeyedCipher>();
let old = new WeakMap<KeyObject, KeyedCipher>();
let youngCount = 0;

function cipherOf(key: KeyObject): KeyedCipher {
  const known = young.get(key);
  if (known !== undefined) return known;
  const cipher = old.get(key) ?? makeCipher(key);
  if (youngCount >= GCM_CIPHERS_MAX) {
    old = young;
    young = new WeakMap();
    youngCount = 0;
  }
  young.set(key, cipher);
  youngCount += 1;
  return cipher;
}

function makeCipher(key: KeyObject): KeyedCipher {
  const blocks = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  return { blocks, hashKey: blocks.update(Buffer.alloc(BLOCK_BYTES)) };
}

/** The kernel of this thread with its memory. */
class Workplace {
  readonly #kernel: GcmKernel;
  readonly #bytes: Buffer;
  readonly #words: Uint32Array;
  #messages = 0;
  #end = MESSAGES_AT;
  #streamBytes = 0;

  constructor() {
    const pages = MEMORY_BYTES / PAGE_BYTES;
    const memory: WasmMemory = new wasm.Memory({ initial: pages, maximum: pages });
    this.#kernel = makeGcmKernel(memory);
    this.#bytes = Buffer.from(memory.buffer);
    this.#words = new Uint32Array(memory.buffer);
  }

  /** True while one more message of any size fits. */
  get hasRoom(): boolean {
    return this.#messages < MESSAGES_MAX && this.#end + this.#streamBytes + MESSAGE_ROOM <= MEMORY_BYTES;
  }

  /**
   * Adds a message: its additional data and nonce are in `from`, and its body in `source`. Returns the address of the body.
   */
  add(from: Buffer, additionalAt: number, at: number, source: Buffer, sourceAt = 0, sourceEnd = source.length): number {
    const additionalBytes = at - additionalAt;
    const bodyBytes = sourceEnd - sourceAt;
    assert(bodyBytes <= BODY_BYTES_MAX && additionalBytes <= ADDITIONAL_BYTES_MAX, 'a message fits its room');
    const bytes = this.#bytes;
    const message = this.#end;
    const bodyAt = message + wholeBlocks(additionalBytes);
    const bodyBlocks = wholeBlocks(bodyBytes);
    const entry = TABLE_AT + this.#messages * ENTRY_BYTES;
    this.#words[(entry + ENTRY.message) >> 2] = message;
    this.#words[(entry + ENTRY.additionalBytes) >> 2] = additionalBytes;
    this.#words[(entry + ENTRY.bodyBytes) >> 2] = bodyBytes;
    from.copy(bytes, entry + ENTRY.nonce, at, at + NONCE_BYTES);
    from.copy(bytes, message, additionalAt, at);
    for (let pad = message + additionalBytes; pad < bodyAt; pad++) bytes[pad] = 0;
    source.copy(bytes, bodyAt, sourceAt, sourceEnd);
    this.#messages += 1;
    this.#end = bodyAt + bodyBlocks + BLOCK_BYTES;
    this.#streamBytes += bodyBlocks + BLOCK_BYTES;
    return bodyAt;
  }

  /** Seals or opens all added messages under a key. Each tag is then behind the whole blocks of its body. */
  run({ blocks, hashKey }: KeyedCipher, opens: boolean): void {
    const bytes = this.#bytes;
    const stream = this.#end;
    this.#kernel.counters(TABLE_AT, this.#messages, stream);
    const enciphered = blocks.update(bytes.subarray(stream, stream + this.#streamBytes));
    bytes.set(enciphered, stream);
    enciphered.fill(0);
    bytes.set(hashKey, HASH_KEY_AT);
    this.#kernel.run(TABLE_AT, this.#messages, HASH_KEY_AT, stream, opens ? 1 : 0);
  }

  /** Copies `count` bytes from `from` on to `into`. */
  copy(from: number, count: number, into: Buffer, at: number): void {
    this.#bytes.copy(into, at, from, from + count);
  }

  /** True when the tag behind a body equals that of `sealed` at `tagAt`. The time does not depend on where they differ. */
  hasTag(bodyAt: number, bodyBytes: number, sealed: Buffer, tagAt: number): boolean {
    const at = bodyAt + wholeBlocks(bodyBytes);
    let difference = 0;
    for (let i = 0; i < TAG_BYTES; i++) difference |= this.#bytes[at + i]! ^ sealed[tagAt + i]!;
    return difference === 0;
  }

  /** Forgets the messages, with all bytes of them. */
  clear(): void {
    this.#bytes.fill(0, 0, this.#end + this.#streamBytes);
    this.#messages = 0;
    this.#end = MESSAGES_AT;
    this.#streamBytes = 0;
  }
}

let workplace: Workplace | undefined;

function wholeBlocks(bytes: number): number {
  return (bytes + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1);
}

/**
 * Seals messages under one key. Their nonces are in place, and stay; ciphertext and tag follow them. Every body has at
 * most BODY_BYTES_MAX bytes.
 */
export function sealBatch(key: KeyObject, { into, bodies, additionalAt, at }: ToSeal): void {
  workplace ??= new Workplace();
  const cipher = cipherOf(key);
  const bodyAt = at + NONCE_BYTES;
  for (let from = 0, to = 0; from < bodies.length; from = to) {
    const places: number[] = [];
    try {
      for (; to < bodies.length && workplace.hasRoom; to++)
        places.push(workplace.add(into[to]!, additionalAt, at, bodies[to]!));
      workplace.run(cipher, false);
      for (let i = from; i < to; i++) {
        const { length } = bodies[i]!;
        const place = places[i - from]!;
        workplace.copy(place, length, into[i]!, bodyAt);
        workplace.copy(place + wholeBlocks(length), TAG_BYTES, into[i]!, bodyAt + length);
      }
    } finally {
      workplace.clear();
    }
  }
}

/** Additional data, then a nonce, where `openOne` gathers them. */
const head = Buffer.allocUnsafeSlow(ADDITIONAL_BYTES_MAX + NONCE_BYTES);

/** Opens nonce ‖ ciphertext ‖ tag of a body of at most BODY_BYTES_MAX bytes. Undefined when the tag is another one. */
export function openOne(key: KeyObject, sealed: Uint8Array, additional: Uint8Array): Buffer | undefined {
  workplace ??= new Workplace();
  const bytes = Buffer.isBuffer(sealed) ? sealed : Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
  const bodyEnd = sealed.length - TAG_BYTES;
  head.set(additional);
  bytes.copy(head, additional.length, 0, NONCE_BYTES);
  const bodyBytes = bodyEnd - NONCE_BYTES;
  try {
    const bodyAt = workplace.add(head, 0, additional.length, bytes, NONCE_BYTES, bodyEnd);
    workplace.run(cipherOf(key), true);
    if (!workplace.hasTag(bodyAt, bodyBytes, bytes, bodyEnd)) return undefined;
    const opened = Buffer.allocUnsafe(bodyBytes);
    workplace.copy(bodyAt, bodyBytes, opened, 0);
    return opened;
  } finally {
    workplace.clear();
  }
}
