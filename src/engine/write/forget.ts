// Plans removals: forget (grains by hash or by subject, all versions) and erase (a user, by destroying the key). Both
// need the settled index, so the engine never plans them after other writes of the same memory in one group.

import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import { toNfc } from '../base/nfc.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { ErasureProof } from '../calls/erasure.ts';
import type { Grain } from '../grain/grain.ts';
import type { Ordinal } from '../index/parts/part.ts';
import { NO_KEY } from '../keys/key-store.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { isViewed, isWithin } from '../store/within.ts';
import { reasonDetail } from './actor.ts';
import { allowErasure, allowForget } from './decided.ts';
import { dropGoverned } from './govern.ts';
import type { Group } from './group.ts';
import { pseudonym } from './pseudonym.ts';
import { redactSuccessors } from './redact.ts';

/** `ordinals`: only these of the subject's grains. */
export interface Wanted extends Omit<MemoryCalls['forget']['input'], 'check'> {
  readonly ordinals?: readonly Ordinal[] | undefined;
}

export interface ForgetTargets {
  readonly targets: readonly Target[];
  readonly notFound: readonly string[];
}

interface Target {
  readonly ordinal: Ordinal;
  readonly address: string;
  readonly name: string;
  readonly type: string;
  readonly userId: string | undefined;
}

export function planForget(
  group: Group,
  memory: Memory,
  context: CallContext,
  input: Wanted & { readonly check: boolean },
): MemoryCalls['forget']['output'] {
  const { targets, notFound } = forgetTargets(group, memory, context, input);
  if (!input.check && targets.length > 0) {
    group.remove(
      memory,
      targets.map((target) => target.ordinal),
      'forgotten',
    );
    for (const target of targets) {
      group.audit(memory, {
        event: 'memory.forgotten',
        actor: context.actor,
        subject: pseudonym(memory, target.userId),
        details: {
          grain: target.name,
          grain_type: target.type,
          ...reasonDetail(group, memory, context.reason, target.userId),
        },
      });
    }
  }
  return { hashes: targets.map((target) => target.address), notFound };
}

/** The named grains within the caller's binding. Throws the policy's code if any of them may not be removed. */
export function forgetTargets(group: Group, memory: Memory, context: CallContext, input: Omit<Wanted, 'check'>) {
  const { store } = group;
  const ordinals = new Set<Ordinal>();
  const notFound: string[] = [];
  const targets: Target[] = [];
  const found = (ordinal: Ordinal, isThere: (grain: Grain) => boolean = () => true): boolean => {
    if (ordinals.has(ordinal)) return true;
    const stored = store.readGrain(memory, ordinal);
    if (stored === undefined || !isThere(stored.grain) || !isWithin(context, stored.grain)) return false;
    const { user_id: userId } = stored.grain.fields;
    if (input.userId !== undefined && userId !== input.userId) return false;
    allowForget(group, memory, context, stored.grain);
    ordinals.add(ordinal);
    targets.push({
      ordinal,
      address: stored.address,
      name: stored.name,
      type: stored.grain.type,
      userId: typeof userId === 'string' ? userId : undefined,
    });
    return true;
  };
  for (const hash of new Set(input.hashes ?? [])) {
    const ordinal = store.findOrdinal(memory.number, hash);
    if (ordinal === undefined || !found(ordinal)) notFound.push(hash);
  }
  if (input.subject !== undefined) {
    const isThere = concerns(memory, context);
    const own = input.ordinals?.filter((ordinal) => !store.index.removed.get(ordinal));
    for (const ordinal of own ?? ordinalsOfSubject(store, memory, input.subject)) found(ordinal, isThere);
  }
  return { targets, notFound };
}

/** False for grains that access tuples let the caller neither view nor erase: by subject they are as if not there. */
function concerns({ governed }: Memory, context: CallContext): (grain: Grain) => boolean {
  const views = [governed.viewFor(context, 'viewer'), governed.viewFor(context, 'eraser')];
  if (views.some((view) => view === undefined)) return () => true;
  return (grain) => views.some((view) => isViewed({ view }, grain));
}

/** Ordinals of live grains of the subject, ascending. */
export function ordinalsOfSubject(store: Store, memory: Memory, subject: string): Ordinal[] {
  return ordinalsOf(store, memory, 'subject', toNfc(subject).trim());
}

/** Ordinals of live grains with a facet value, ascending. */
function ordinalsOf(store: Store, memory: Memory, facet: 'subject' | 'user', value: string): Ordinal[] {
  const ordinals: Ordinal[] = [];
  for (const part of store.parts(memory.number)) {
    for (const doc of part.facet(facet, value) ?? []) {
      const ordinal = part.ordinals[doc]!;
      if (!store.index.removed.get(ordinal)) ordinals.push(ordinal);
    }
  }
  return ordinals;
}

/** A backup that is restored later may know the user. The recorded token makes the restore erase the user there too. */
function noteUnknown(group: Group, memory: Memory, userId: string): void {
  group.overlay(memory);
  const sequence = group.record({
    kind: 'key',
    memory: memory.number,
    key: NO_KEY,
    keyKind: 'user',
    action: 'destroyed',
    atMs: group.nowMs,
    token: memory.tokens.user(userId),
    fingerprint: Buffer.alloc(8),
    sealedName: Buffer.alloc(0),
  });
  group.onPublish(() => group.store.index.publishKeyed(memory.number, 'userKey', memory.userToken(userId), sequence));
}

function mayErase(memory: Memory, context: CallContext, userId: string): void {
  if (context.namespace !== undefined || (context.userId !== undefined && context.userId !== userId))
    throw new EngineError('AUT-E001', "an erasure reaches beyond this caller's binding");
  allowErasure(memory, context);
}

/** Grains that an erasure of the user would remove. Throws as the erasure does. */
export function ordinalsOfUser(group: Group, memory: Memory, context: CallContext, userId: string): Ordinal[] {
  mayErase(memory, context, userId);
  return ordinalsOf(group.store, memory, 'user', userId);
}

/**
 * Erases a user in this shard. Removals, the end of the key and the audit entries are one transaction. The key is
 * destroyed after it and before the answer. The index blocks follow in the background under a new index key. A second
 * call repeats the first proof with count 0. For an unknown user the fingerprint is empty.
 */
export function planEraseUser(
  group: Group,
  memory: Memory,
  context: CallContext,
  { userId, check }: MemoryCalls['eraseUser']['input'],
): ErasureProof {
  const { store } = group;
  mayErase(memory, context, userId);
  if (check === true) return { userId, count: 0, keyFingerprint: '', timestamp: 0 };
  const known = store.namedKeys.user(memory, userId);
  if (known === undefined || known.key === NO_KEY) {
    if (known === undefined) noteUnknown(group, memory, userId);
    return { userId, count: 0, keyFingerprint: '', timestamp: Math.floor(group.nowMs / 1000) };
  }
  // A lost key is not an erasure yet: the grains, and their words in the index, must still be removed.
  if (!known.live && (known.record.action === 'destroyed' || store.keys.state(known.key) === 'destroyed')) {
    const { fingerprint, atMs, auditHash } = known.record;
    const { fingerprint: destroyed, destroyedMs } = store.keys.tombstone(known.key) ?? {
      fingerprint: Buffer.from(fingerprint).toString('hex'),
      destroyedMs: atMs,
    };
    const timestamp = Math.floor(destroyedMs / 1000);
    return { userId, count: 0, keyFingerprint: destroyed, timestamp, ...entryNamed(auditHash) };
  }
  const ordinals = ordinalsOf(store, memory, 'user', userId);
  const fingerprint = store.keys.proof(known.key);
  const timestamp = Math.floor(group.nowMs / 1000);
  const subject = pseudonym(memory, userId);
  const auditHash = group.auditFirst(memory, {
    event: 'user.erased',
    actor: context.actor,
    subject,
    details: {
      count: ordinals.length,
      key_fingerprint: fingerprint,
      ...reasonDetail(group, memory, context.reason ?? 'data_subject_request', userId),
    },
  });
  const details = { key_fingerprint: fingerprint };
  redactSuccessors(group, memory, ordinals, { actor: context.actor, subject, details });
  if (ordinals.length > 0) group.remove(memory, ordinals, 'erased');
  dropGoverned(group, memory, userId);
  const sequence = group.record({
    kind: 'key',
    memory: memory.number,
    key: known.key,
    keyKind: 'user',
    action: 'destroyed',
    atMs: group.nowMs,
    token: memory.tokens.user(userId),
    fingerprint: Buffer.from(fingerprint, 'hex'),
    sealedName: Buffer.alloc(0),
    auditHash,
  });
  group.onPublish(() => {
    store.index.publishKeyed(memory.number, 'userKey', memory.userToken(userId), sequence);
    memory.dropKeys();
  });
  group.audit(memory, { event: 'key.destroyed', actor: context.actor, subject, details });
  group.destroyKey(known.key);
  group.renewIndexKey(memory);
  return { userId, count: ordinals.length, keyFingerprint: fingerprint, timestamp, ...entryNamed(auditHash) };
}

function entryNamed(auditEntryHash: string | undefined): Pick<ErasureProof, 'auditEntryHash'> {
  return defined({ auditEntryHash });
}
