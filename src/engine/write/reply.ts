// Idempotency: a write with a key stores its answer in the same transaction. The same key with the same body gets that
// answer again for 24 hours. With another body it is refused.

import { hash, type KeyObject } from 'node:crypto';
import { Packr } from 'msgpackr';
import { assert } from '../base/assert.ts';
import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import { IDEMPOTENCY_KEEP_MS } from '../base/limits.ts';
import type { CallContext } from '../calls/context.ts';
import { hkdf } from '../crypto/derive.ts';
import { open, seal, sealKey } from '../crypto/envelope.ts';
import { toApi } from '../grain/api/output.ts';
import { decodeRecord } from '../record/record-codec.ts';
import type { Memory } from '../store/memory.ts';
import { refuseRead } from '../store/readable.ts';
import { isWithin } from '../store/within.ts';
import type { Group } from './group.ts';
import type { ShownGrain, StoredReply } from './stored-reply.ts';

/** Whether and how an answer is stored, in particular when it contains data that an erasure must reach. */
export interface ReplyKeeping<I, O> {
  /** False for a read-only call: it is answered with the reply stored under its key and stores none itself. */
  isKept?(input: I): boolean;
  /** The person and namespace that the answer quotes. It is sealed under their keys and is lost with them. */
  ofWhom?(output: O): Whose;
  /** The part of the answer that is stored. `restore` adds the members that the repeated request contains itself. */
  strip?(output: O): unknown;
  restore?(kept: unknown, input: I): O;
}

interface Whose {
  readonly user?: string | undefined;
  readonly namespace?: string | undefined;
  /** With it, `strip` leaves out the fields. */
  readonly shows?: ShownGrain | undefined;
}

/**
 * A sealed reply begins with the id of the user key that it is sealed under, 0 for none. If the first bit is set, the
 * id of a scope's key follows. Without either, the reply is sealed under the memory's own key. If the second bit is
 * set, the call's idempotency key is part of the sealing key. That key is nowhere in the log, so only its sender can
 * try bodies and hashes on a stored reply. Older builds did not set it.
 */
const KEY_ID_BYTES = 4;
const UNDER_SCOPE = 0x8000_0000;
const UNDER_CALL = 0x4000_0000;
const CALL_INFO = Buffer.from('granary/v1/reply');

const packr = new Packr({ useRecords: false, moreTypes: true });

/** The reply stored under the call's idempotency key, or undefined when there is none. VAL-E005 for another body. */
export function storedReply(
  group: Group,
  memory: Memory,
  method: string,
  context: CallContext,
): StoredReply | undefined {
  if (context.idempotency === undefined) return undefined;
  const token = replyToken(memory, method, context);
  const found = group.peek(memory)?.replies.get(token) ?? committedReply(group, memory, token, context);
  if (found !== undefined && found.bodyHash !== context.idempotency.bodyHash) throw new EngineError('VAL-E005');
  return found?.shows === undefined ? found : withFields(group, memory, context, found, found.shows);
}

/**
 * Undefined when the grain is gone: the request then counts as a new one. POL-E002, POL-E008 when it may not be read.
 */
function withFields(
  group: Group,
  memory: Memory,
  context: CallContext,
  reply: StoredReply,
  { hash, predecessor }: ShownGrain,
): StoredReply | undefined {
  const ordinal = group.findOrdinal(memory, hash);
  const stored = ordinal === undefined ? undefined : group.read(memory, ordinal);
  if (stored === undefined || !isWithin(context, stored.grain)) return undefined;
  const refusal = refuseRead(memory, context, stored.grain, group.nowMs);
  if (refusal?.code === 'MEM-E001') return undefined;
  if (refusal !== undefined) throw refusal;
  const fields = toApi(stored.grain, { predecessor });
  return { ...reply, output: { ...(reply.output as object), fields } }; // an answer with members, as `strip` left it
}

function committedReply(group: Group, memory: Memory, token: string, context: CallContext): StoredReply | undefined {
  const { store } = group;
  const sequence = store.newestKeyed(memory.number, 'reply', token);
  const bytes = sequence === undefined ? undefined : store.log.read(sequence);
  const record = bytes === undefined ? undefined : decodeRecord(bytes);
  if (record?.kind !== 'reply' || record.atMs + IDEMPOTENCY_KEEP_MS < group.nowMs) return undefined;
  return openReply(memory, record.sealed, token, callOf(context));
}

/**
 * The reply stored under the token for a call with that key. Undefined when its user or its scope was erased: the
 * request then counts as a new one.
 */
export function openReply(memory: Memory, stored: Uint8Array, token: string, ofCall: string): StoredReply | undefined {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const head = bytes.readUInt32BE(0);
  const isUnderScope = (head & UNDER_SCOPE) !== 0;
  const under = {
    key: (head & ~(UNDER_SCOPE | UNDER_CALL)) >>> 0,
    scopeKey: isUnderScope ? bytes.readUInt32BE(KEY_ID_BYTES) : 0,
    call: (head & UNDER_CALL) === 0 ? undefined : ofCall,
  };
  const sealed = bytes.subarray(isUnderScope ? 2 * KEY_ID_BYTES : KEY_ID_BYTES);
  try {
    // sealReply sealed it. The authentication of the seal guarantees its shape.
    return packr.unpack(open(replyKey(memory, under), sealed, Buffer.from(`reply:${token}`))) as StoredReply;
  } catch (error) {
    if (error instanceof EngineError && error.code === 'CRY-E002') return undefined;
    throw error;
  }
}

interface Under {
  /** Ids of a user's key and a scope's key, 0 for none. */
  readonly key: number;
  readonly scopeKey: number;
  /** The idempotency key of the call; absent in replies of older builds. */
  readonly call: string | undefined;
}

/**
 * Derived from a user's key, a scope's key, or both, so that destroying one of them is enough; and from the call's own
 * key.
 */
function replyKey(memory: Memory, { key, scopeKey, call }: Under): KeyObject {
  const base =
    key === 0 && scopeKey === 0
      ? memory.smallKey
      : key === 0
        ? memory.grainKey(scopeKey, 0)
        : memory.grainKey(key, scopeKey);
  if (call === undefined) return base;
  return sealKey(hkdf(base.export(), hash('sha256', call, 'buffer'), CALL_INFO));
}

function callOf({ idempotency }: CallContext): string {
  assert(idempotency !== undefined, 'only a call with a key has a stored reply');
  return idempotency.key;
}

function sealReply(memory: Memory, parts: ReplyParts): Buffer {
  const { token, reply, key, scopeKey, call } = parts;
  const sealed = seal(replyKey(memory, { key, scopeKey, call }), packr.pack(reply), Buffer.from(`reply:${token}`));
  const head = Buffer.alloc(scopeKey === 0 ? KEY_ID_BYTES : 2 * KEY_ID_BYTES);
  head.writeUInt32BE((key | UNDER_CALL | (scopeKey === 0 ? 0 : UNDER_SCOPE)) >>> 0);
  if (scopeKey !== 0) head.writeUInt32BE(scopeKey, KEY_ID_BYTES);
  return Buffer.concat([head, sealed]);
}

/** Stores the answer of a granted call with the rest of its group. */
export function storeReply(
  group: Group,
  memory: Memory,
  { method, context }: { readonly method: string; readonly context: CallContext },
  { kept, user, namespace, shows }: { readonly kept: unknown } & Whose,
): void {
  if (context.idempotency === undefined) return;
  const token = replyToken(memory, method, context);
  const { bodyHash } = context.idempotency;
  const reply: StoredReply = { bodyHash, output: kept, ...defined({ shows }) };
  const key = user === undefined ? 0 : group.keyOfUser(memory, user);
  const scopeKey = namespace === undefined ? 0 : group.keyOfScope(memory, namespace);
  recordReply(group, memory, { token, reply, atMs: group.nowMs, key, scopeKey, call: callOf(context) });
  group.overlay(memory).replies.set(token, reply);
}

/** Frees the key of this call, if it is stored for this body, by writing a newer record of it that has expired. */
export function releaseReply(group: Group, memory: Memory, method: string, context: CallContext): void {
  const reply = storedReply(group, memory, method, context);
  if (reply !== undefined)
    recordReply(group, memory, {
      token: replyToken(memory, method, context),
      // Its output is never returned again.
      reply: { bodyHash: reply.bodyHash, output: null },
      atMs: 0,
      key: 0,
      scopeKey: 0,
      call: callOf(context),
    });
}

interface ReplyParts {
  readonly token: string;
  readonly reply: StoredReply;
  readonly atMs: number;
  readonly key: number;
  readonly scopeKey: number;
  readonly call: string;
}

function recordReply(group: Group, memory: Memory, parts: ReplyParts): void {
  const { token, atMs } = parts;
  const sequence = group.record({
    kind: 'reply',
    memory: memory.number,
    token: Buffer.from(token, 'hex'),
    atMs,
    sealed: sealReply(memory, parts),
  });
  group.overlay(memory);
  group.onPublish(() => group.store.index.publishKeyed(memory.number, 'reply', token, sequence));
}

/**
 * Equal keys of different callers do not collide. Equal keys of different methods do, and are refused because their
 * bodies differ. In a memory with several partitions, a claim is separate from the calls that are made under it.
 */
function replyToken(memory: Memory, method: string, context: CallContext): string {
  const place = method === 'claim' && memory.settings.partitions > 1 ? 'claim' : 'call';
  return memory.tokens.facet('reply', `${place}\n${context.actor}\n${context.idempotency?.key}`).toString('hex');
}

/**
 * Under the idempotency key of a batch, each item is stored by its index, and each entry of a manifest by its grain.
 */
export function itemContext(context: CallContext, index: number | `manifest ${string}`): CallContext {
  if (context.idempotency === undefined) return context;
  return { ...context, idempotency: { ...context.idempotency, key: `${context.idempotency.key}#${index}` } };
}
