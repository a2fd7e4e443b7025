// Idempotency: a write that carries a key stores its answer in the same transaction. The same key with the same body
// gets that answer again for 24 hours; with another body it is refused.
import { Packr } from 'msgpackr';
import type { CallContext } from '../calls.ts';
import { open, seal } from '../crypto/envelope.ts';
import { EngineError } from '../errors.ts';
import { IDEMPOTENCY_KEEP_MS } from '../limits.ts';
import { decodeRecord } from '../record/record.ts';
import type { Memory } from '../store/memory.ts';
import type { Group } from './group.ts';

interface StoredReply {
  readonly bodyHash: string;
  readonly output: unknown;
}

/** How an answer is kept: whether, and how where it holds what an erasure must reach. */
export interface ReplyKeeping<I, O> {
  /** False for a call that only looks: it is answered with what is kept under its key, and keeps nothing itself. */
  readonly isKept?: (input: I) => boolean;
  /** The user whose words the answer quotes: it is sealed under that user's key, and forgotten with it. */
  readonly userOf?: (output: O) => string | undefined;
  /** What of the answer is kept; `restore` adds what the repeated request says itself. */
  readonly strip?: (output: O) => unknown;
  readonly restore?: (kept: unknown, input: I) => O;
}

/** Bytes in front of a sealed reply: the id of the user key that it is sealed under, 0 for the memory's own. */
const KEY_ID_BYTES = 4;

const packr = new Packr({ useRecords: false, moreTypes: true });

/** The answer stored under the call's idempotency key, or undefined when it has none yet. VAL-E005 for another body. */
export function storedReply(
  group: Group,
  memory: Memory,
  method: string,
  context: CallContext,
): StoredReply | undefined {
  if (context.idempotency === undefined) return undefined;
  const token = replyToken(memory, method, context);
  const found = group.peek(memory)?.replies.get(token) ?? committedReply(group, memory, token);
  if (found !== undefined && found.bodyHash !== context.idempotency.bodyHash) throw new EngineError('VAL-E005');
  return found;
}

function committedReply(group: Group, memory: Memory, token: string): StoredReply | undefined {
  const { store } = group;
  const sequence = store.newestKeyed(memory.number, 'reply', token);
  const bytes = sequence === undefined ? undefined : store.log.read(sequence);
  const record = bytes === undefined ? undefined : decodeRecord(bytes);
  if (record?.kind !== 'reply' || record.atMs + IDEMPOTENCY_KEEP_MS < group.nowMs) return undefined;
  return openReply(memory, record.sealed, token);
}

/** Undefined when its user was erased: the request is then taken as a new one. */
function openReply(memory: Memory, stored: Uint8Array, token: string): StoredReply | undefined {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const key = bytes.readUInt32BE(0);
  const sealed = bytes.subarray(KEY_ID_BYTES);
  try {
    const plain =
      key === 0
        ? memory.openSmall(sealed, `reply:${token}`)
        : open(memory.grainKey(key, 0), sealed, Buffer.from(`reply:${token}`));
    // Sealed by recordReply: the seal's authentication is the check of its shape.
    return packr.unpack(plain) as StoredReply;
  } catch (error) {
    if (error instanceof EngineError && error.code === 'CRY-E002') return undefined;
    throw error;
  }
}

function sealReply(memory: Memory, reply: StoredReply, token: string, key: number): Buffer {
  const plain = packr.pack(reply);
  const sealed =
    key === 0
      ? memory.sealSmall(plain, `reply:${token}`)
      : seal(memory.grainKey(key, 0), plain, Buffer.from(`reply:${token}`));
  const head = Buffer.alloc(KEY_ID_BYTES);
  head.writeUInt32BE(key);
  return Buffer.concat([head, sealed]);
}

/** Stores what is kept of the answer of a granted call, for the words of `user` if any, with the rest of its group. */
export function storeReply(
  group: Group,
  memory: Memory,
  { method, context }: { readonly method: string; readonly context: CallContext },
  { kept, user }: { readonly kept: unknown; readonly user: string | undefined },
): void {
  if (context.idempotency === undefined) return;
  const token = replyToken(memory, method, context);
  const reply: StoredReply = { bodyHash: context.idempotency.bodyHash, output: kept };
  const key = user === undefined ? 0 : group.keyOfUser(memory, user);
  recordReply(group, memory, { token, reply, atMs: group.nowMs, key });
  group.overlay(memory).replies.set(token, reply);
}

/** Frees the key of this call, if it is kept for this body: the newest record of it is one whose time is over. */
export function releaseReply(group: Group, memory: Memory, method: string, context: CallContext): void {
  const reply = storedReply(group, memory, method, context);
  if (reply !== undefined)
    recordReply(group, memory, {
      token: replyToken(memory, method, context),
      // Nothing of it is answered any more.
      reply: { bodyHash: reply.bodyHash, output: null },
      atMs: 0,
      key: 0,
    });
}

function recordReply(
  group: Group,
  memory: Memory,
  parts: { readonly token: string; readonly reply: StoredReply; readonly atMs: number; readonly key: number },
): void {
  const { token, reply, atMs, key } = parts;
  const sequence = group.record({
    kind: 'reply',
    memory: memory.number,
    token: Buffer.from(token, 'hex'),
    atMs,
    sealed: sealReply(memory, reply, token, key),
  });
  group.overlay(memory);
  group.onPublish(() => group.store.index.publishKeyed(memory.number, 'reply', token, sequence));
}

/**
 * Keys of different callers do not meet; those of different methods do, and are then refused, as their bodies differ.
 * Where a memory has several partitions, a claim stands beside the calls that are made under it.
 */
function replyToken(memory: Memory, method: string, context: CallContext): string {
  const place = method === 'claim' && memory.settings.partitions > 1 ? 'claim' : 'call';
  return memory.tokens.facet('reply', `${place}\n${context.actor}\n${context.idempotency?.key}`).toString('hex');
}
