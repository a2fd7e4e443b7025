// Decodes protobuf messages with the strictness and limits of JSON bodies. Every nested message becomes an object, so a
// million empty members of two bytes each take seconds to decode; the reader counts members while decoding.
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { EngineError } from '../../engine/base/errors.ts';
import { REQUEST_MEMBERS_MAX } from '../../engine/base/limits.ts';
import type { MessageFns } from '../gen/memory/v1/memory.ts';
import type { UnknownMember } from './unknown-members.ts';

/** Shorter messages need no count: a member takes at least two bytes, its tag and its value or length. */
const FREE_BYTES = 2 * REQUEST_MEMBERS_MAX;
/** Invalid UTF-8 up to this size is passed on, so that the field's own check can refuse it by name. */
const BAD_TEXT_BYTES_MAX = 16_384;

/** The character that a decoder writes for invalid bytes. */
const REPLACEMENT = '\ufffd';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const UTF8_REPLACED = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Decodes a message. Appends fields that the message does not define to `unknown`, by number. Throws VAL-E003 for
 * malformed bytes and VAL-E001 for more than REQUEST_MEMBERS_MAX members.
 */
export function decodeMessage<Req>(codec: MessageFns<Req>, bytes: Uint8Array, unknown: UnknownMember[]): Req {
  const reader = bytes.length > FREE_BYTES ? new CountingReader(bytes) : new SkipReader(bytes);
  let message: Req;
  try {
    message = codec.decode(reader);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('VAL-E003', 'invalid type: the request is not a message of this method');
  }
  if (!reader.skipped) return message;
  // Naming unknown fields means inspecting every tag, so only a message that has some is read again.
  const naming = new NamingReader(bytes, decodeUtf8);
  codec.decode(naming);
  for (const number of naming.numbers) unknown.push({ path: `field ${number}`, kind: 'member', nearest: undefined });
  return message;
}

/** Records whether the decoder skipped an unknown field, and reads texts without a view of their bytes. */
class SkipReader extends BinaryReader {
  skipped = false;
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    super(bytes, decodeUtf8);
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  override string(): string {
    const length = this.uint32();
    const start = this.pos;
    this.pos += length;
    if (this.pos > this.len) throw new RangeError('the text ends behind the message');
    const text = this.#bytes.toString('utf8', start, this.pos);
    // The mark for invalid bytes may also have been sent.
    return text.includes(REPLACEMENT) ? decodeUtf8(this.#bytes.subarray(start, this.pos)) : text;
  }

  override skip(...field: Parameters<BinaryReader['skip']>): Uint8Array {
    this.skipped = true;
    return super.skip(...field);
  }
}

/** Counts the numbers that the generated code reads: at most two per member, and each number of a packed list. */
class CountingReader extends SkipReader {
  constructor(bytes: Uint8Array) {
    super(bytes);
    let left = 2 * REQUEST_MEMBERS_MAX;
    const count = (): void => {
      left -= 1;
      if (left < 0) throw new EngineError('VAL-E001', `the message has more than ${REQUEST_MEMBERS_MAX} members`);
    };
    // The library assigns `uint32` to each reader; `float` is a prototype method.
    const { uint32, float } = this;
    this.uint32 = () => {
      count();
      return uint32.call(this);
    };
    this.float = () => {
      count();
      return float.call(this);
    };
  }
}

/** Records the numbers of the fields that the decoder skips. */
class NamingReader extends BinaryReader {
  readonly numbers = new Set<number>();
  #tag = 0;

  constructor(...given: ConstructorParameters<typeof BinaryReader>) {
    super(...given);
    const { uint32 } = this;
    // The library assigns `uint32` to each reader. A decoder reads a field's tag right before it skips the field.
    this.uint32 = () => {
      this.#tag = uint32.call(this);
      return this.#tag;
    };
  }

  override skip(...field: Parameters<BinaryReader['skip']>): Uint8Array {
    this.numbers.add(this.#tag >>> 3);
    return super.skip(...field);
  }
}

/** Replaces invalid UTF-8 with a lone surrogate. JSON can contain those too, so one check refuses both. */
function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    if (bytes.length > BAD_TEXT_BYTES_MAX)
      throw new EngineError('VAL-E003', 'invalid type: a text of the message is not UTF-8');
    return UTF8_REPLACED.decode(bytes).replaceAll(REPLACEMENT, '\ud800');
  }
}
