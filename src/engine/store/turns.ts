// The turns of harnesses and their conversations, in the log's state. Both are rule records, sealed under the keys of the
// person and of the scope that their grains are sealed under. They name grains and hold none of their text.
//
//   turn/M/TURN                    u32 sequence of the turn's record
//   turn-open/M/TURN               u48 when it expires in ms (0: it runs) | 8 bytes of the run of the server that has it
//   turn-of/M/OWNER/tTURN          nothing: a turn of that person, or else of that scope
//   conversation/M/SLUG/TALK       u32 sequence of the conversation's record | u48 when it changed
//   conversation-at/M/SLUG/WHEN/TALK   nothing: the conversations of a harness, newest first
//   turn-of/M/OWNER/cSLUG.TALK     nothing
//
// M is the memory's number. TURN, SLUG, TALK and OWNER are blind tokens; OWNER begins with u for a person or s for a scope.
// WHEN counts down. The sealed part of a record begins with the u32 id of the scope's key.
import type { KeyObject } from 'node:crypto';
import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import type { CallContext } from '../calls/context.ts';
import type { ConversationView } from '../calls/turns.ts';
import { open, seal } from '../crypto/envelope.ts';
import { MissingKey } from '../keys/key-store.ts';
import type { Log, Sequence } from '../log/log.ts';
import { decodeRecord } from '../record/record-codec.ts';
import type { Turn } from '../turn/turn.ts';
import type { Memory } from './memory.ts';
import { hasExpired, refuseRead } from './readable.ts';
import { sequenceOf } from './rules.ts';
import { isWithin } from './within.ts';

export type TurnTopic = 'turn' | 'conversation';

export interface Conversation extends ConversationView {
  /** The session ids of its turns whose records are kept, the newest last. */
  readonly turns: readonly string[];
}

type Talk = Pick<Conversation, 'slug' | 'conversationId' | 'namespace' | 'userId'>;
type Owner = Pick<Turn, 'userId' | 'namespace'>;

const SCOPE_KEY_BYTES = 4;
const TIME_MAX = 2 ** 48 - 1;
const SERVER_AT = 6;

export function turnToken(memory: Memory, sessionId: string): string {
  return tokenOf(memory, `turn:${sessionId}`);
}

export function turnState(memory: Memory, token: string): string {
  return `turn/${memory.number}/${token}`;
}

export function openTurnState(memory: Pick<Memory, 'number'>, token = ''): string {
  return `turn-open/${memory.number}/${token}`;
}

/** Conversations of one harness; another person, or another namespace, has others of the same id. */
export function talkToken(memory: Memory, { slug, conversationId, namespace, userId }: Talk): string {
  return tokenOf(memory, `talk:${JSON.stringify([slug, conversationId, namespace, userId ?? null])}`);
}

export function slugToken(memory: Memory, slug: string): string {
  return tokenOf(memory, `slug:${slug}`);
}

/** `slug` is the token of a slug here and below. */
export function talkState({ number }: Pick<Memory, 'number'>, slug: string, token = ''): string {
  return `conversation/${number}/${slug}/${token}`;
}

/** The entry of a conversation in the order of time. */
export function talkAtState(memory: Pick<Memory, 'number'>, slug: string, updatedAtMs: number, token: string): string {
  return `${talksAtState(memory, slug)}${(TIME_MAX - updatedAtMs).toString(16).padStart(12, '0')}/${token}`;
}

export function talksAtState({ number }: Pick<Memory, 'number'>, slug: string): string {
  return `conversation-at/${number}/${slug}/`;
}

/** The time and the token of such an entry. */
export function placeOf(state: string): { readonly updatedAtMs: number; readonly token: string } {
  const [when = '', token = ''] = state.split('/').slice(-2);
  return { updatedAtMs: TIME_MAX - Number.parseInt(when, 16), token };
}

/** Prefix of the entries of a person, or of a scope. */
export function ownedState(memory: Memory, { userId, namespace }: Owner): string {
  const owner = userId === undefined ? `s${memory.scopeToken(namespace)}` : `u${memory.userToken(userId)}`;
  return `turn-of/${memory.number}/${owner}/`;
}

/** The entries that one entry of an owner leads to. */
export function statesOfOwned(
  memory: Pick<Memory, 'number'>,
  state: string,
): { readonly kind: TurnTopic; readonly state: string } {
  const name = state.slice(state.lastIndexOf('/') + 1);
  return name.startsWith('t')
    ? { kind: 'turn', state: `turn/${memory.number}/${name.slice(1)}` }
    : { kind: 'conversation', state: `conversation/${memory.number}/${name.slice(1).replace('.', '/')}` };
}

/** The last part of an owner's entry for a turn or a conversation, from the name of its own entry. */
export function ownedName(state: string): string {
  const [topic, , first = '', second = ''] = state.split('/');
  return topic === 'turn' ? `t${first}` : `c${first}.${second}`;
}

/** Prefixes of the entries of all turns and conversations of a memory. */
export function recordStates({ number }: Pick<Memory, 'number'>): readonly string[] {
  return [`turn/${number}/`, `conversation/${number}/`];
}

/** The turn or the conversation at one of these entries, as it is committed. */
export function recordAt(
  log: Pick<Log, 'read' | 'getState'>,
  memory: Memory,
  state: string,
): Turn | Conversation | undefined {
  if (!state.startsWith('turn/')) return talkAt(log, memory, state);
  return turnAt(log, memory, state.slice(state.lastIndexOf('/') + 1));
}

export function openValue(expiresAtMs: number, server: string): Buffer {
  const value = Buffer.alloc(SERVER_AT + 8);
  value.writeUIntBE(expiresAtMs, 0, SERVER_AT);
  value.write(server.slice(0, 16), SERVER_AT, 'hex');
  return value;
}

/** When the turn expires (0: it runs), and the run of the server. */
export function readOpen(value: Uint8Array): { readonly expiresAtMs: number; readonly server: string } {
  const bytes = Buffer.from(value);
  return { expiresAtMs: bytes.readUIntBE(0, SERVER_AT), server: bytes.toString('hex', SERVER_AT) };
}

export function talkValue(sequence: Sequence, updatedAtMs: number): Buffer {
  const value = Buffer.alloc(10);
  value.writeUInt32BE(sequence, 0);
  value.writeUIntBE(updatedAtMs, 4, 6);
  return value;
}

export function readTalk(value: Uint8Array): { readonly sequence: Sequence; readonly updatedAtMs: number } {
  const bytes = Buffer.from(value);
  return { sequence: bytes.readUInt32BE(0), updatedAtMs: bytes.readUIntBE(4, 6) };
}

export function sealTurn(
  memory: Memory,
  about: TurnTopic,
  keys: { readonly user: number; readonly scope: number },
  content: Turn | Conversation,
): Buffer {
  const head = Buffer.alloc(SCOPE_KEY_BYTES);
  head.writeUInt32BE(keys.scope);
  const plain = Buffer.from(JSON.stringify(content));
  return Buffer.concat([head, seal(keyOf(memory, keys), plain, Buffer.from(`rule:${about}`))]);
}

/** The content of a record; undefined when a key of it was erased, or the record is gone. */
export function readTurnRecord(log: Pick<Log, 'read'>, memory: Memory, about: TurnTopic, sequence: Sequence): unknown {
  const bytes = log.read(sequence);
  const record = bytes === undefined ? undefined : decodeRecord(bytes);
  if (record?.kind !== 'rule' || record.about !== about) return undefined;
  const sealed = Buffer.from(record.sealed);
  const keys = { user: record.key, scope: sealed.readUInt32BE(0) };
  try {
    const plain = open(keyOf(memory, keys), sealed.subarray(SCOPE_KEY_BYTES), Buffer.from(`rule:${about}`));
    return JSON.parse(plain.toString());
  } catch (error) {
    if (error instanceof MissingKey || (error instanceof EngineError && error.code === 'CRY-E002')) return undefined;
    throw error;
  }
}

/** The turn as it is committed. */
export function turnAt(log: Pick<Log, 'read' | 'getState'>, memory: Memory, token: string): Turn | undefined {
  const value = log.getState(turnState(memory, token));
  if (value === undefined) return undefined;
  return readTurnRecord(log, memory, 'turn', sequenceOf(value)) as Turn | undefined; // sealTurn sealed it
}

/** The conversation at a state entry, as it is committed. */
export function talkAt(log: Pick<Log, 'read' | 'getState'>, memory: Memory, state: string): Conversation | undefined {
  const value = log.getState(state);
  if (value === undefined) return undefined;
  return readTurnRecord(log, memory, 'conversation', readTalk(value).sequence) as Conversation | undefined; // as above
}

export function noTurn(sessionId: string): EngineError {
  return new EngineError('HRN-E004', `the harness has no session ${sessionId}`);
}

/**
 * HRN-E004 for a turn outside of the caller's binding. Otherwise a turn, or a conversation, is governed as an event of
 * its person and namespace would be.
 */
export function refuseTurn(
  memory: Memory,
  context: CallContext,
  of: Owner & { readonly updatedAtMs: number; readonly sessionId?: string | undefined },
  nowMs: number,
): EngineError | undefined {
  const { namespace, userId, updatedAtMs, sessionId = '' } = of;
  const fields = defined({ namespace, user_id: userId, created_at: updatedAtMs });
  if (!isWithin(context, { fields })) return noTurn(sessionId);
  const refusal = refuseRead(memory, context, { type: 'event', fields }, nowMs);
  return refusal?.code === 'MEM-E001' ? noTurn(sessionId) : refusal;
}

/** True if an event of the same age, person and namespace would have outlived the policy's time to live. */
export function hasOutlived(memory: Memory, of: Owner & { readonly updatedAtMs: number }, nowMs: number): boolean {
  return hasExpired(memory, { type: 'event', fields: { namespace: of.namespace, created_at: of.updatedAtMs } }, nowMs);
}

/** Numbers of the memories with turns that are not over. */
export function memoriesWithTurns(log: Pick<Log, 'scanState'>): number[] {
  const found = new Set<number>();
  for (const [name] of log.scanState('turn-open/')) found.add(Number(name.split('/')[1]));
  return [...found];
}

function keyOf(memory: Memory, { user, scope }: { readonly user: number; readonly scope: number }): KeyObject {
  if (user !== 0) return memory.grainKey(user, scope);
  return scope === 0 ? memory.smallKey : memory.grainKey(scope, 0);
}

function tokenOf(memory: Memory, text: string): string {
  return memory.tokens.facet('turn', text).toString('hex');
}

/**
 * Tokens of the turns that have expired, or that another run of the server left running; and when the next one expires.
 */
export function dueTurns(
  log: Pick<Log, 'scanState'>,
  memory: Pick<Memory, 'number'>,
  { nowMs, server, limit }: { readonly nowMs: number; readonly server: string; readonly limit: number },
): { readonly due: readonly string[]; readonly nextMs?: number | undefined } {
  const due: string[] = [];
  let nextMs: number | undefined;
  const prefix = openTurnState(memory);
  for (const [name, value] of log.scanState(prefix)) {
    const open = readOpen(value);
    const isRunning = open.expiresAtMs === 0;
    if (isRunning ? open.server === server : open.expiresAtMs > nowMs) {
      if (!isRunning) nextMs = Math.min(nextMs ?? open.expiresAtMs, open.expiresAtMs);
      continue;
    }
    if (due.length < limit) due.push(name.slice(prefix.length));
    else nextMs = nowMs;
    // An interrupted turn expires later.
  }
  return { due, nextMs };
}
