// Encodes a call's context. Every call has one and its members are fixed, so a hand-written format halves the cost of
// MessagePack.
//
//   u32 memory, u8 partition, u16 members (a bit each, in the order below), f64 deadline if there,
//   then each text that is there: u32 bytes (bit 31: UTF-16LE, for what is not well-formed), the bytes
//   texts: actor, requestId (always), namespace, userId, reason, purpose, idempotency key, body hash, onBehalfOf, agentId
import type { CallContext } from '../protocol.ts';

const HAS_DEADLINE = 1;
const HAS_NAMESPACE = 2;
const HAS_USER_ID = 4;
const HAS_REASON = 8;
const HAS_PURPOSE = 16;
const HAS_IDEMPOTENCY = 32;
/** Flags without a value: the bit is all there is. */
const REPEATS = 64;
const STRICT = 128;
const OWNS = 256;
const HAS_ON_BEHALF_OF = 512;
const HAS_AGENT_ID = 1024;
const TRACED = 2048;
const UTF16 = 0x8000_0000;
const FIXED_BYTES = 15;
/** Up to this length a loop over characters is faster than the runtime's copy. */
const SHORT_CHARS = 48;

/** Upper bound of the bytes that `writeContext` writes. */
export function contextBytesMax(context: CallContext): number {
  const { idempotency } = context;
  return (
    FIXED_BYTES +
    textBytesMax(context.actor) +
    textBytesMax(context.requestId) +
    textBytesMax(context.namespace) +
    textBytesMax(context.userId) +
    textBytesMax(context.reason) +
    textBytesMax(context.purpose) +
    textBytesMax(context.onBehalfOf) +
    textBytesMax(context.agentId) +
    (idempotency === undefined ? 0 : textBytesMax(idempotency.key) + textBytesMax(idempotency.bodyHash))
  );
}

/** Length prefix plus at most three bytes for each UTF-16 code unit. */
function textBytesMax(text: string | undefined): number {
  return text === undefined ? 0 : 4 + text.length * 3;
}

/** Writes `context` at `start` and returns its end. Needs `contextBytesMax` free bytes. */
export function writeContext(bytes: Buffer, start: number, context: CallContext): number {
  bytes.writeUInt32LE(context.memory, start);
  bytes[start + 4] = context.partition;
  let members = 0;
  let at = start + 7;
  if (context.deadlineMs !== undefined) {
    members |= HAS_DEADLINE;
    at = bytes.writeDoubleLE(context.deadlineMs, at);
  }
  at = writeText(bytes, at, context.actor);
  at = writeText(bytes, at, context.requestId);
  if (context.namespace !== undefined) {
    members |= HAS_NAMESPACE;
    at = writeText(bytes, at, context.namespace);
  }
  if (context.userId !== undefined) {
    members |= HAS_USER_ID;
    at = writeText(bytes, at, context.userId);
  }
  if (context.reason !== undefined) {
    members |= HAS_REASON;
    at = writeText(bytes, at, context.reason);
  }
  if (context.purpose !== undefined) {
    members |= HAS_PURPOSE;
    at = writeText(bytes, at, context.purpose);
  }
  if (context.idempotency !== undefined) {
    members |= HAS_IDEMPOTENCY;
    at = writeText(bytes, at, context.idempotency.key);
    at = writeText(bytes, at, context.idempotency.bodyHash);
  }
  if (context.onBehalfOf !== undefined) {
    members |= HAS_ON_BEHALF_OF;
    at = writeText(bytes, at, context.onBehalfOf);
  }
  if (context.agentId !== undefined) {
    members |= HAS_AGENT_ID;
    at = writeText(bytes, at, context.agentId);
  }
  if (context.repeats === true) members |= REPEATS;
  if (context.strict === true) members |= STRICT;
  if (context.owns === true) members |= OWNS;
  if (context.traced === true) members |= TRACED;
  bytes.writeUInt16LE(members, start + 5);
  return at;
}

function writeText(bytes: Buffer, at: number, text: string): number {
  const start = at + 4;
  const { length } = text;
  if (length <= SHORT_CHARS) {
    let i = 0;
    for (; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 128) break;
      bytes[start + i] = code;
    }
    if (i === length) {
      bytes.writeUInt32LE(length, at);
      return start + length;
    }
  }
  const isUtf8 = text.isWellFormed();
  const written = bytes.write(text, start, isUtf8 ? 'utf8' : 'utf16le');
  bytes.writeUInt32LE(isUtf8 ? written : (written | UTF16) >>> 0, at);
  return start + written;
}

/** The context that was written at `start`. */
export function readContext(bytes: Buffer, start: number): CallContext {
  const members = bytes.readUInt16LE(start + 5);
  const at = { at: start + 7 };
  let deadlineMs: number | undefined;
  if (members & HAS_DEADLINE) {
    deadlineMs = bytes.readDoubleLE(at.at);
    at.at += 8;
  }
  const context: { -readonly [K in keyof CallContext]: CallContext[K] } = {
    memory: bytes.readUInt32LE(start),
    partition: bytes.readUInt8(start + 4),
    actor: readText(bytes, at),
    requestId: readText(bytes, at),
  };
  if (deadlineMs !== undefined) context.deadlineMs = deadlineMs;
  if (members & HAS_NAMESPACE) context.namespace = readText(bytes, at);
  if (members & HAS_USER_ID) context.userId = readText(bytes, at);
  if (members & HAS_REASON) context.reason = readText(bytes, at);
  if (members & HAS_PURPOSE) context.purpose = readText(bytes, at);
  if (members & HAS_IDEMPOTENCY) context.idempotency = { key: readText(bytes, at), bodyHash: readText(bytes, at) };
  if (members & HAS_ON_BEHALF_OF) context.onBehalfOf = readText(bytes, at);
  if (members & HAS_AGENT_ID) context.agentId = readText(bytes, at);
  if (members & TRACED) context.traced = true;
  if (members & REPEATS) context.repeats = true;
  if (members & STRICT) context.strict = true;
  if (members & OWNS) context.owns = true;
  return context;
}

function readText(bytes: Buffer, place: { at: number }): string {
  const length = bytes.readUInt32LE(place.at);
  const start = place.at + 4;
  const isUtf16 = length >= UTF16;
  place.at = start + (isUtf16 ? length - UTF16 : length);
  return isUtf16 ? bytes.toString('utf16le', start, place.at) : bytes.toString('utf8', start, place.at);
}
