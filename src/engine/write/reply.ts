// Idempotency: a write that carries a key stores its answer in the same transaction. The same key with the same body
// gets that answer again for 24 hours; with another body it is refused.
import { Packr } from 'msgpackr';
import type { CallContext } from '../calls.ts';
import { EngineError } from '../errors.ts';
import { IDEMPOTENCY_KEEP_MS } from '../limits.ts';
import { decodeRecord } from '../record/record.ts';
import type { Memory } from '../store/memory.ts';
import type { Group } from './group.ts';

interface StoredReply {
  readonly bodyHash: string;
  readonly output: unknown;
}

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
  // Sealed by storeReply under the memory's own key.
  return packr.unpack(memory.openSmall(record.sealed, `reply:${token}`)) as StoredReply;
}

/** Stores the answer of a granted call with the rest of its group. */
export function storeReply(group: Group, memory: Memory, method: string, context: CallContext, output: unknown): void {
  if (context.idempotency === undefined) return;
  const token = replyToken(memory, method, context);
  const reply: StoredReply = { bodyHash: context.idempotency.bodyHash, output };
  recordReply(group, memory, { token, reply, atMs: group.nowMs });
  group.overlay(memory).replies.set(token, reply);
}

/** Frees the key of this call, if it is kept for this body: the newest record of it is one whose time is over. */
export function releaseReply(group: Group, memory: Memory, method: string, context: CallContext): void {
  const reply = storedReply(group, memory, method, context);
  if (reply !== undefined) recordReply(group, memory, { token: replyToken(memory, method, context), reply, atMs: 0 });
}

function recordReply(
  group: Group,
  memory: Memory,
  { token, reply, atMs }: { readonly token: string; readonly reply: StoredReply; readonly atMs: number },
): void {
  const sequence = group.record({
    kind: 'reply',
    memory: memory.number,
    token: Buffer.from(token, 'hex'),
    atMs,
    sealed: memory.sealSmall(packr.pack(reply), `reply:${token}`),
  });
  group.overlay(memory);
  group.onPublish(() => group.store.index.publishKeyed(memory.number, 'reply', token, sequence));
}

/** Keys of different callers and methods do not meet. */
function replyToken(memory: Memory, method: string, context: CallContext): string {
  return memory.tokens.facet('reply', `${method}\n${context.actor}\n${context.idempotency?.key}`).toString('hex');
}
