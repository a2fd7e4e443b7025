// Plans the erasure of a scope and everything below it: their keys are destroyed, their grains removed. Without a tree
// a scope is a namespace.

import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { ScopeProof } from '../calls/erasure.ts';
import { open, sealKey } from '../crypto/envelope.ts';
import { reachBelow, reachOf } from '../govern/scope-tree.ts';
import type { Ordinal } from '../index/parts/part.ts';
import { decodeRecord } from '../record/record-codec.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { reasonDetail } from './actor.ts';
import { allowScopeErasure } from './decided.ts';
import { dropTurns } from './drop-turns.ts';
import type { Group } from './group.ts';
import { redactSuccessors } from './redact.ts';

type Output = MemoryCalls['eraseScope']['output'];

/** The part of one scope that this shard holds. */
interface Scope {
  readonly path: string;
  readonly ordinals: Ordinal[];
  key: number | undefined;
}

/**
 * Like the erasure of a user: removals, the end of the keys and the audit entries are one transaction; the keys are
 * destroyed before the answer; the index blocks follow under a new index key. SCP-E001 for a path that the tree lacks.
 * POL-E003 under a hold, or when the policy forbids forgetting. A second call returns count 0 and the first
 * fingerprints.
 */
export function planEraseScope(
  group: Group,
  memory: Memory,
  context: CallContext,
  { path: asked, check, tops }: MemoryCalls['eraseScope']['input'],
): Output {
  mayErase(memory, context);
  const { store } = group;
  const { path, isWithin, known } =
    tops === undefined ? reachOf(memory.settings.scopes?.root, asked) : reachBelow(asked, tops);
  if (check === true) return { path, timestamp: 0, proofs: [] };
  const scopes = inOrder(scopesIn(store, memory, isWithin));
  const timestamp = Math.floor(group.nowMs / 1000);
  if (scopes.length === 0) return { path, ...earlier(store, memory, known, timestamp) };
  const erased = scopes.flatMap(({ ordinals }) => ordinals);
  redactSuccessors(group, memory, erased, { actor: context.actor, subject: '', details: {} });
  const proofs = scopes.map((scope) => eraseOne(group, memory, context, scope));
  group.renewIndexKey(memory);
  return { path, timestamp, proofs };
}

function mayErase(memory: Memory, context: CallContext): void {
  if (context.namespace !== undefined || context.userId !== undefined)
    throw new EngineError('AUT-E001', "an erasure reaches beyond this caller's binding");
  allowScopeErasure(memory, context);
}

/** The grains that an erasure of the scope would remove. Throws as the erasure does. */
export function scopesToErase(
  group: Group,
  memory: Memory,
  context: CallContext,
  asked: string,
): { readonly path: string; readonly scopes: readonly Scope[] } {
  mayErase(memory, context);
  const { path, isWithin } = reachOf(memory.settings.scopes?.root, asked);
  return { path, scopes: inOrder(scopesIn(group.store, memory, isWithin)) };
}

function inOrder(scopes: ReadonlyMap<string, Scope>): Scope[] {
  return [...scopes.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Scopes with grains or a live key here, by path. */
function scopesIn(store: Store, memory: Memory, isWithin: (namespace: string) => boolean): Map<string, Scope> {
  const scopes = new Map<string, Scope>();
  const scopeAt = (path: string): Scope => {
    const known = scopes.get(path);
    if (known !== undefined) return known;
    const scope: Scope = { path, ordinals: [], key: undefined };
    scopes.set(path, scope);
    return scope;
  };
  for (const { path, key } of liveScopes(store, memory)) if (isWithin(path)) scopeAt(path).key = key;
  for (const part of store.parts(memory.number))
    for (const [namespace] of part.facetValues('namespace')) {
      if (!isWithin(namespace)) continue;
      for (const doc of part.facet('namespace', namespace) ?? []) {
        const ordinal = part.ordinals[doc]!;
        if (!store.index.removed.get(ordinal)) scopeAt(namespace).ordinals.push(ordinal);
      }
    }
  // A lost key does not prove an erasure.
  for (const scope of scopes.values()) scope.key ??= lostKey(store, memory, scope.path);
  return scopes;
}

/** Every scope of the memory with a live key, by the name that is sealed under the key. */
function* liveScopes(
  store: Store,
  memory: Memory,
): Generator<{ readonly path: string; readonly key: number }, void, void> {
  for (const sequence of store.allKeyed(memory.number, 'scopeKey')) {
    const bytes = store.log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    if (record?.kind !== 'key' || record.action !== 'made' || store.keys.state(record.key) !== 'live') continue;
    const key = store.keys.get(record.key);
    const name = open(sealKey(key), record.sealedName, Buffer.from(`key-name:${record.key}`));
    key.fill(0);
    yield { path: name.toString('utf8'), key: record.key };
  }
}

function lostKey(store: Store, memory: Memory, path: string): number | undefined {
  const known = store.namedKeys.scope(memory, path);
  return known?.record.action === 'made' && store.keys.state(known.key) === 'missing' ? known.key : undefined;
}

function eraseOne(
  group: Group,
  memory: Memory,
  { actor, reason }: CallContext,
  { path, ordinals, key }: Scope,
): ScopeProof {
  const { store } = group;
  const token = memory.scopeToken(path);
  if (ordinals.length > 0) group.remove(memory, ordinals, 'erased');
  dropTurns(group, memory, { namespace: path });
  const keyFingerprint = key === undefined ? '' : store.keys.proof(key);
  group.audit(memory, {
    event: 'scope.erased',
    actor,
    subject: '',
    details: defined({
      scope: token,
      count: ordinals.length,
      key_fingerprint: key === undefined ? undefined : keyFingerprint,
      ...reasonDetail(group, memory, reason ?? 'data_subject_request'),
    }),
  });
  if (key !== undefined) destroyScopeKey(group, memory, { key, token, keyFingerprint, actor });
  return { path, count: ordinals.length, keyFingerprint, isRepeat: false };
}

function destroyScopeKey(
  group: Group,
  memory: Memory,
  of: { readonly key: number; readonly token: string; readonly keyFingerprint: string; readonly actor: string },
): void {
  const { key, token, keyFingerprint, actor } = of;
  const { store } = group;
  const sequence = group.record({
    kind: 'key',
    memory: memory.number,
    key,
    keyKind: 'scope',
    action: 'destroyed',
    atMs: group.nowMs,
    token: Buffer.from(token, 'hex'),
    fingerprint: Buffer.from(keyFingerprint, 'hex'),
    sealedName: Buffer.alloc(0),
  });
  group.onPublish(() => {
    store.index.publishKeyed(memory.number, 'scopeKey', token, sequence);
    memory.dropKeys();
  });
  group.audit(memory, { event: 'key.destroyed', actor, subject: '', details: { key_fingerprint: keyFingerprint } });
  group.destroyKey(key);
}

/** The fingerprints of an earlier erasure, for the paths that can be named, and when the last of their keys was destroyed. */
function earlier(
  store: Store,
  memory: Memory,
  paths: readonly string[],
  now: number,
): { readonly timestamp: number; readonly proofs: readonly ScopeProof[] } {
  let lastMs = 0;
  const proofs = paths.flatMap((path) => {
    const key = store.namedKeys.scope(memory, path)?.key;
    const tombstone = key === undefined ? undefined : store.keys.tombstone(key);
    if (tombstone === undefined) return [];
    lastMs = Math.max(lastMs, tombstone.destroyedMs);
    return [{ path, count: 0, keyFingerprint: tombstone.fingerprint, isRepeat: true }];
  });
  return { timestamp: proofs.length === 0 ? now : Math.floor(lastMs / 1000), proofs };
}
