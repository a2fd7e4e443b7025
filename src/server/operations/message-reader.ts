// A protobuf message, give me its members: as strict as a body of JSON, and bounded as one. Each message is made of objects, so a
// million empty members of two bytes take seconds; the reader counts them while the generated code asks for them.
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { EngineError } from '../../engine/base/errors.ts';
import { REQUEST_MEMBERS_MAX } from '../../engine/base/limits.ts';
import type { MessageFns } from '../gen/memory/v1/memory.ts';
import type { UnknownMember } from './unknown-members.ts';

/** A member takes two bytes at least: its tag, and its value or length. */
const FREE_BYTES = 2 * REQUEST_MEMBERS_MAX;
/** Up to here text that is no UTF-8 is carried on, for whoever wants the field to refuse. */
const BAD_TEXT_BYTES_MAX = 16_384;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const UTF8_REPLACED = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Puts fields that the message has no member for into `unknown`, by their numbers. Throws VAL-E003 for what is no such message,
 * VAL-E001 for more members than a request may have.
 */
export function decodeMessage<Req>(codec: MessageFns<Req>, bytes: Uint8Array, unknown: UnknownMember[]): Req {
  const reader = bytes.length > FREE_BYTES ? new CountingReader(bytes) : new SkipReader(bytes, decodeUtf8);
  let message: Req;
  try {
    message = codec.decode(reader);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('VAL-E003', 'invalid type: the request is not a message of this method');
  }
  if (!reader.skipped) return message;
  // Which fields they are costs a look at every tag: only a message that has some is read again.
  const naming = new NamingReader(bytes, decodeUtf8);
  codec.decode(naming);
  for (const number of naming.numbers) unknown.push({ path: `field ${number}`, kind: 'member', nearest: undefined });
  return message;
}

/** Knows whether a decoder came past a field that it has no member for. */
class SkipReader extends BinaryReader {
  skipped = false;

  override skip(...field: Parameters<BinaryReader['skip']>): Uint8Array {
    this.skipped = true;
    return super.skip(...field);
  }
}

/** Counts what the generated code reads: at most two numbers a member, and each number of a packed list. */
class CountingReader extends SkipReader {
  constructor(bytes: Uint8Array) {
    super(bytes, decodeUtf8);
    let left = 2 * REQUEST_MEMBERS_MAX;
    const count = (): void => {
      left -= 1;
      if (left < 0) throw new EngineError('VAL-E001', `the message has more than ${REQUEST_MEMBERS_MAX} members`);
    };
    // The library sets the one on each reader, and has the other as a method.
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

/** Knows the numbers of fields that a decoder has no member for. */
class NamingReader extends BinaryReader {
  readonly numbers = new Set<number>();
  #tag = 0;

  constructor(...given: ConstructorParameters<typeof BinaryReader>) {
    super(...given);
    const { uint32 } = this;
    // The library sets it on each reader. A decoder reads a field's tag right before it skips the field.
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

/** What is no UTF-8 becomes half a surrogate pair, as it can come in JSON too: who refuses that refuses both. */
function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    if (bytes.length > BAD_TEXT_BYTES_MAX)
      throw new EngineError('VAL-E003', 'invalid type: a text of the message is not UTF-8');
    return UTF8_REPLACED.decode(bytes).replaceAll('\ufffd', '\ud800');
  }
}
