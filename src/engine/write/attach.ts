// Plans the lifecycle of a memory in this shard: attached with its own keys, settings changed, dropped for good.

import { EngineError } from '../base/errors.ts';
import type { CallContext } from '../calls/context.ts';
import type { MemorySettings } from '../calls/memory.ts';
import { refuseHeld } from '../govern/decide.ts';
import { treeOf } from '../govern/scope-tree.ts';
import { type Memory, type MemoryKeyIds, sealSettings } from '../store/memory.ts';
import { firstPolicy } from '../store/rules.ts';
import { namedState, oldBlobKeyState, purgeState } from '../store/state-names.ts';
import type { Group } from './group.ts';
import { writeSetting } from './setting-record.ts';

/**
 * Creates the memory in this shard, or changes the settings of an existing one. STO-E001 when it should exist and does
 * not.
 */
export function planAttach(group: Group, context: CallContext, settings: MemorySettings): void {
  const { store } = group;
  const existing = store.holds(settings.number) ? store.memory(settings.number) : undefined;
  if (existing !== undefined && JSON.stringify(existing.settings) === JSON.stringify(settings)) return;
  // A dropped memory's chunks are removed before its number could be used again, which never happens.
  if (existing === undefined && store.index.memoryBytes(settings.number) > 0 && !store.dropPending.has(settings.number))
    throw new EngineError(
      'STO-E001',
      `memory ${settings.number} has an index but no settings: the state of the log is damaged`,
    );
  if (existing === undefined) {
    const [blob, token, index] = (['blob', 'token', 'index'] as const).map((kind) => store.keys.allocate(kind));
    group.keyAllocated();
    const ids = { blob: blob!.id, token: token!.id, index: index!.id };
    writeSetting(group, settings.number, ids, sealSettings(token!.key, settings), false);
    group.setState(namedState(settings.number), Uint8Array.of(1));
  } else {
    const sealed = sealSettings(store.keys.get(existing.keyIds.token), settings);
    writeSetting(group, settings.number, existing.keyIds, sealed, false);
    // It may have another embedder now.
    group.onPublish(() => store.vectorsBehind.add(settings.number));
  }
  auditAttach(group, context, existing?.settings, settings);
  if (existing !== undefined || settings.policy === undefined) return;
  const { version, sealHash, presets } = firstPolicy(settings);
  group.auditLater(settings.number, {
    event: 'policy.sealed',
    actor: context.actor,
    subject: '',
    details: { version, seal_hash: sealHash, presets: presets.join(',') },
    mark: 'none', // the first policy is no change
  });
}

/** POL-E003 when the policy keeps the memory. */
export function checkDrop(memory: Memory): { readonly keyFingerprint: string } {
  const refusal = refuseHeld(memory.governed);
  if (refusal !== undefined) throw refusal;
  return { keyFingerprint: '' };
}

function auditAttach(
  group: Group,
  { actor, partition }: CallContext,
  before: MemorySettings | undefined,
  settings: MemorySettings,
): void {
  const { number, partitions, scopes } = settings;
  const hasOtherScopes = before !== undefined && before.scopes?.updatedAtMs !== scopes?.updatedAtMs;
  if (hasOtherScopes) {
    const details = { nodes: scopes === undefined ? 0 : treeOf(scopes.root).size };
    if (partition === 0) group.auditLater(number, { event: 'scope.tree_changed', actor, subject: '', details });
    if (JSON.stringify({ ...before, scopes: null }) === JSON.stringify({ ...settings, scopes: null })) return;
  }
  const event = before === undefined ? 'instance.created' : 'settings.changed';
  group.auditLater(number, { event, actor, subject: '', details: { partitions } });
}

/**
 * Drops the memory. Its keys are destroyed before the answer, so that nothing of it can be opened again. Its records
 * and index blocks are removed in the background. The fingerprint is that of its blob key.
 */
export function planDrop(group: Group, memory: Memory): { readonly keyFingerprint: string } {
  const { store } = group;
  group.onPublish(() => memory.dropKeys());
  return dropKeyed(group, memory.number, memory.keyIds, [
    ...store.namedKeys.liveUsers(memory),
    ...store.namedKeys.liveScopes(memory),
  ]);
}

/** Drops a memory that does not open because its token key is lost. `named`: the keys of its users and scopes. */
export function planDropClosed(
  group: Group,
  number: number,
  named: readonly number[],
): { readonly keyFingerprint: string } {
  const { blobKey: blob, tokenKey: token, indexKey: index } = group.store.setting(number);
  return dropKeyed(group, number, { blob, token, index }, named);
}

function dropKeyed(
  group: Group,
  number: number,
  { blob, token, index }: MemoryKeyIds,
  named: readonly number[],
): { readonly keyFingerprint: string } {
  const { store } = group;
  const keyFingerprint = store.keys.proof(blob);
  group.record({
    kind: 'setting',
    memory: number,
    blobKey: blob,
    tokenKey: token,
    indexKey: index,
    dropped: true,
    sealed: Buffer.alloc(0),
  });
  group.setState(`memory/${number}`, null);
  const indexKeys = store.notedIndexKeys(number);
  const blobKeys = store.oldBlobKeys(number);
  for (const id of indexKeys) group.setState(purgeState(number, id), null);
  for (const id of blobKeys) group.setState(oldBlobKeyState(number, id), null);
  // The list stays until every key is gone and every record removed. After a crash, the drop is completed at open.
  const doomed = [blob, token, index, ...named, ...indexKeys, ...blobKeys];
  const value = Buffer.alloc(4 * doomed.length);
  for (let i = 0; i < doomed.length; i++) value.writeUInt32BE(doomed[i]!, 4 * i);
  group.setState(`drop/${number}`, value);
  for (const key of doomed) group.destroyKey(key);
  group.onPublish(() => {
    store.settingChanged(number, undefined);
    store.purgePending.delete(number);
    store.dropPending.add(number);
    store.vectors.dropMemory(number);
    store.vectorsBehind.delete(number);
    store.vectorsFresh.delete(number);
    store.vectorsHandedOut.delete(number);
  });
  return { keyFingerprint };
}

/**
 * A drop of a memory that is not here. A dropped memory repeats its proof while its records are being removed: after a
 * crash every shard is asked again, and some have finished.
 */
export function planDropped(group: Group, number: number): { readonly keyFingerprint: string } {
  const doomed = group.store.log.getState(`drop/${number}`);
  if (doomed === undefined) return { keyFingerprint: '' };
  return { keyFingerprint: group.store.keys.fingerprint(Buffer.from(doomed).readUInt32BE(0)) };
}
