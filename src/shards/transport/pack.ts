// The messages between the main thread and a worker: many requests, or many replies, in one transferred ArrayBuffer.
// Bytes are copied once into the message; the transfer copies nothing. Never post a slice of a wire buffer: structured
// clone would copy the whole underlying buffer.
//
//   requests   u32 lane (and LONE), u32 count, then for each
//              u32 id, u8 shard, u8 method, u8 form, u8 codec, u32 context bytes, u32 body bytes, context, body
//              codec 0: the body is the input as a value; else wire bytes, method 254
//              method 255: taken back by the sender, to be skipped
//   replies    u32 batches that were run since the last message, for each lane, u32 count, then for each
//              u32 id, u8 kind, u8 form, u16 zero, u32 bytes of notes, u32 bytes, notes (UTF-8), body
//
// Numbers are little-endian. value.ts defines `form`, context.ts the format of a context.
import { assert } from '../../engine/base/assert.ts';
import type { WireError } from '../../engine/base/errors.ts';
import { type CallContext, METHODS, type Method } from '../protocol.ts';
import type { RawReply } from './codec.ts';
import { contextBytesMax, readContext, writeContext } from './context.ts';
import { FORM_EXACT, FORM_MESSAGEPACK, packReply, packValue, unpackValue, type ValueForm } from './value.ts';

const REQUEST_HEADER_BYTES = 16;
const REPLY_HEADER_BYTES = 16;
const COUNT_BYTES = 4;
const METHOD_AT = 5;
const METHOD_SKIPPED = 255;
const METHOD_RAW = 254;
/** Offsets of the count in a message of requests and in a message of replies. */
const REQUEST_COUNT_AT = 4;
const REPLY_COUNT_AT = 12;
const SCRATCH_BYTES = 65_536;
/** A scratch buffer that grew beyond this is released after its message. */
const SCRATCH_BYTES_KEPT = 4 * 1_048_576;

/** Each lane has its own batches, so that a read never waits for earlier writes, and a health check for neither. */
export const LANES = ['probe', 'read', 'write'] as const;
export type Lane = (typeof LANES)[number];

/** Added to the lane of a batch that is not to be reported as run: nothing waits for that. */
const LONE = 0x100;

assert(METHODS.length < METHOD_RAW, 'a method number fits a byte');
assert(LANES.length * COUNT_BYTES === REPLY_COUNT_AT, 'replies count the batches of every lane');
const METHOD_NUMBERS: ReadonlyMap<Method, number> = new Map(METHODS.map((method, number) => [method, number]));

/** Builds a message in a growing buffer that is reused between messages. */
class Scratch {
  bytes = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  length: number;
  readonly headBytes: number;

  constructor(headBytes: number) {
    this.headBytes = headBytes;
    this.length = headBytes;
  }

  /**
   * Makes room for `count` more bytes after `start` and returns `start`. The writer sets `length` once they are complete. A
   * long message gets exactly the room that it asks for, because its buffer can then leave without a copy.
   */
  reserve(count: number, start = this.length): number {
    const end = start + count;
    if (end > this.bytes.length) {
      const roomy = Math.min(this.bytes.length * 2, SCRATCH_BYTES_KEPT);
      const larger = Buffer.allocUnsafeSlow(Math.max(end, roomy));
      this.bytes.copy(larger, 0, 0, start);
      this.bytes = larger;
    }
    return start;
  }

  /** Returns the message in an ArrayBuffer of exactly its size, ready for transfer, and empties the scratch. */
  take(): ArrayBuffer {
    const { bytes, length } = this;
    // allocUnsafeSlow never uses the shared pool: the Buffer starts at offset 0 of its own ArrayBuffer.
    const buffer = bytes.buffer as ArrayBuffer;
    const isWhole = bytes.length === length;
    const message = isWhole ? buffer : buffer.slice(0, length);
    this.length = this.headBytes;
    if (isWhole || bytes.length > SCRATCH_BYTES_KEPT) this.bytes = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
    return message;
  }
}

export interface RequestAddress {
  /** Id of the pending call; u32. */
  readonly id: number;
  readonly shard: number;
}

export class RequestWriter {
  readonly #scratch = new Scratch(REQUEST_COUNT_AT + COUNT_BYTES);
  readonly #lane: Lane;
  #count = 0;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  get count(): number {
    return this.#count;
  }

  /** Bytes of the message so far. */
  get byteLength(): number {
    return this.#scratch.length;
  }

  /** Appends a call and returns its offset, for `skipRequest`. Throws RangeError if `input` nests too deeply for the stack. */
  append({ id, shard }: RequestAddress, method: Method, context: CallContext, input: unknown): number {
    const number = METHOD_NUMBERS.get(method);
    assert(number !== undefined, 'the method is in the table');
    const value = packValue(input);
    return this.#put(id, shard, number, value.form, 0, context, value.bytes);
  }

  /** Appends a copy of wire bytes. */
  appendRaw({ id, shard }: RequestAddress, codec: number, context: CallContext, raw: Uint8Array): number {
    assert(codec >= 1 && codec <= 255, 'a codec number fits a byte and is not 0');
    return this.#put(id, shard, METHOD_RAW, FORM_MESSAGEPACK, codec, context, raw);
  }

  #put(
    id: number,
    shard: number,
    method: number,
    form: ValueForm,
    codec: number,
    context: CallContext,
    body: Uint8Array,
  ): number {
    const start = this.#scratch.reserve(REQUEST_HEADER_BYTES + contextBytesMax(context));
    const contextAt = start + REQUEST_HEADER_BYTES;
    const bodyAt = writeContext(this.#scratch.bytes, contextAt, context);
    this.#scratch.reserve(body.length, bodyAt);
    const { bytes } = this.#scratch;
    bytes.writeUInt32LE(id, start);
    bytes[start + 4] = shard;
    bytes[start + METHOD_AT] = method;
    bytes[start + 6] = form;
    bytes[start + 7] = codec;
    bytes.writeUInt32LE(bodyAt - contextAt, start + 8);
    bytes.writeUInt32LE(body.length, start + 12);
    bytes.set(body, bodyAt);
    this.#scratch.length = bodyAt + body.length;
    this.#count++;
    return start;
  }

  /** Returns the message and empties the writer. */
  take(): ArrayBuffer {
    this.#scratch.bytes.writeUInt32LE(LANES.indexOf(this.#lane), 0);
    this.#scratch.bytes.writeUInt32LE(this.#count, REQUEST_COUNT_AT);
    this.#count = 0;
    return this.#scratch.take();
  }
}

/** Marks an unsent message as one that is not to be reported as run. */
export function markLone(message: ArrayBuffer): void {
  const head = Buffer.from(message, 0, REQUEST_COUNT_AT);
  head.writeUInt32LE(head.readUInt32LE(0) | LONE, 0);
}

/** True for a message of requests that is not to be reported as run. */
export function isLone(message: ArrayBuffer): boolean {
  return (Buffer.from(message, 0, REQUEST_COUNT_AT).readUInt32LE(0) & LONE) !== 0;
}

/** Marks the request at offset `place` of an unsent message as withdrawn. */
export function skipRequest(message: ArrayBuffer, place: number): void {
  new Uint8Array(message)[place + METHOD_AT] = METHOD_SKIPPED;
}

export interface PackedRequest extends RequestAddress {
  readonly context: CallContext;
  readonly body:
    | { readonly method: Method; readonly input: unknown }
    | { readonly codec: number; readonly raw: Uint8Array };
}

/** The lane of a message of requests. */
export function laneOf(message: ArrayBuffer): Lane {
  const lane = LANES[Buffer.from(message).readUInt32LE(0) & ~LONE];
  assert(lane !== undefined, 'a message of requests came in a lane');
  return lane;
}

/** Called with the id of a request or reply that cannot be read. The others of its message are read nevertheless. */
export type OnUnreadable = (id: number, error: unknown) => void;

/**
 * The requests of a message in order, without withdrawn ones. Byte arrays are views of the message. `methods` has the methods by
 * the numbers that the sender writes; undefined for one that is not known here.
 */
export function* readRequests(
  message: ArrayBuffer,
  onUnreadable: OnUnreadable,
  methods: readonly (Method | undefined)[] = METHODS,
): Generator<PackedRequest> {
  const bytes = Buffer.from(message);
  const count = bytes.readUInt32LE(REQUEST_COUNT_AT);
  let at = REQUEST_COUNT_AT + COUNT_BYTES;
  for (let i = 0; i < count; i++) {
    const id = bytes.readUInt32LE(at);
    const shard = bytes.readUInt8(at + 4);
    const methodNumber = bytes.readUInt8(at + METHOD_AT);
    const formNumber = bytes.readUInt8(at + 6);
    const codec = bytes.readUInt8(at + 7);
    const contextAt = at + REQUEST_HEADER_BYTES;
    const bodyAt = contextAt + bytes.readUInt32LE(at + 8);
    at = bodyAt + bytes.readUInt32LE(at + 12);
    assert(at <= bytes.length, 'a request lies inside its message');
    if (methodNumber === METHOD_SKIPPED) continue;
    const raw = bytes.subarray(bodyAt, at);
    let request: PackedRequest;
    try {
      const context = readContext(bytes, contextAt);
      const body = codec === 0 ? readCall(methods[methodNumber], formNumber, raw) : { codec, raw };
      request = { id, shard, context, body };
    } catch (error) {
      onUnreadable(id, error);
      continue;
    }
    yield request;
  }
  assert(at === bytes.length, 'a message of requests ends with its last request');
}

function readCall(method: Method | undefined, formNumber: number, body: Uint8Array): PackedRequest['body'] {
  assert(method !== undefined, 'a method number is in the table');
  return { method, input: unpackValue(formOf(formNumber), body) };
}

const REPLY_KINDS = ['value', 'raw', 'error'] as const;

export class ReplyWriter {
  readonly #scratch = new Scratch(REPLY_COUNT_AT + COUNT_BYTES);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#scratch.length;
  }

  appendValue(id: number, output: unknown): void {
    const value = packReply(output);
    this.#put(id, 0, value.form, value.bytes);
  }

  /** Appends a copy of the reply's bytes. */
  appendRaw(id: number, { bytes, notes }: RawReply): void {
    this.#put(id, 1, 0, bytes, notes);
  }

  appendError(id: number, error: WireError): void {
    const value = packValue(error);
    this.#put(id, 2, value.form, value.bytes);
  }

  #put(id: number, kind: number, form: ValueForm, body: Uint8Array, notes = ''): void {
    const notesBytes = notes === '' ? 0 : Buffer.byteLength(notes);
    const bodyAt = REPLY_HEADER_BYTES + notesBytes;
    const start = this.#scratch.reserve(bodyAt + body.length);
    const { bytes } = this.#scratch;
    bytes.writeUInt32LE(id, start);
    bytes[start + 4] = kind;
    bytes[start + 5] = form;
    bytes.writeUInt16LE(0, start + 6);
    bytes.writeUInt32LE(notesBytes, start + 8);
    bytes.writeUInt32LE(body.length, start + 12);
    if (notesBytes > 0) bytes.write(notes, start + REPLY_HEADER_BYTES);
    bytes.set(body, start + bodyAt);
    this.#scratch.length = start + bodyAt + body.length;
    this.#count++;
  }

  /** Returns the message and empties the writer. `batches`: how many more messages of requests were run in each lane. */
  take(batches: Readonly<Partial<Record<Lane, number>>>): ArrayBuffer {
    for (const [at, lane] of LANES.entries()) this.#scratch.bytes.writeUInt32LE(batches[lane] ?? 0, at * COUNT_BYTES);
    this.#scratch.bytes.writeUInt32LE(this.#count, REPLY_COUNT_AT);
    this.#count = 0;
    return this.#scratch.take();
  }
}

export type PackedReply = { readonly id: number } & (
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'raw'; readonly raw: RawReply }
  | { readonly kind: 'error'; readonly error: WireError }
);

/** Number of batches of this lane that the message reports as run. */
export function batchesRun(message: ArrayBuffer, lane: Lane): number {
  return Buffer.from(message).readUInt32LE(LANES.indexOf(lane) * COUNT_BYTES);
}

/** The replies of a message in order. Byte arrays are views of the message. */
export function* readReplies(message: ArrayBuffer, onUnreadable: OnUnreadable): Generator<PackedReply> {
  const bytes = Buffer.from(message);
  const count = bytes.readUInt32LE(REPLY_COUNT_AT);
  let at = REPLY_COUNT_AT + COUNT_BYTES;
  for (let i = 0; i < count; i++) {
    const id = bytes.readUInt32LE(at);
    const kindNumber = bytes.readUInt8(at + 4);
    const formNumber = bytes.readUInt8(at + 5);
    const notesAt = at + REPLY_HEADER_BYTES;
    const bodyAt = notesAt + bytes.readUInt32LE(at + 8);
    at = bodyAt + bytes.readUInt32LE(at + 12);
    assert(at <= bytes.length, 'a reply lies inside its message');
    const body = bytes.subarray(bodyAt, at);
    let reply: PackedReply;
    try {
      const kind = REPLY_KINDS[kindNumber];
      assert(kind !== undefined, 'a reply has a kind');
      if (kind === 'raw') reply = { id, kind, raw: { bytes: body, notes: bytes.toString('utf8', notesAt, bodyAt) } };
      else if (kind === 'value') reply = { id, kind, value: unpackValue(formOf(formNumber), body) };
      // appendError packed a WireError
      else reply = { id, kind, error: unpackValue(formOf(formNumber), body) as WireError };
    } catch (error) {
      onUnreadable(id, error);
      continue;
    }
    yield reply;
  }
  assert(at === bytes.length, 'a message of replies ends with its last reply');
}

function formOf(number: number): ValueForm {
  assert(number === FORM_MESSAGEPACK || number === FORM_EXACT, 'a value has a known form');
  return number;
}
