// Plans new versions: supersede (a caller's new fields over the current version) and accumulate (numbers added to the
// tip of a chain). Both link the new grain to the old one in the same transaction.

import { EngineError } from '../base/errors.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { Accumulated } from '../calls/grain.ts';
import { keepsForever } from '../govern/policy/retention.ts';
import type { JsonObject, JsonValue } from '../grain/api/json-value.ts';
import { accumulateFields, supersedeFields } from '../grain/api/merge.ts';
import { toApi } from '../grain/api/output.ts';
import { tripleForm } from '../grain/api/text.ts';
import { intersect } from '../index/docs/docset.ts';
import { type Ordinal, pairKey } from '../index/parts/part.ts';
import { whyGone } from '../store/gone.ts';
import type { Memory } from '../store/memory.ts';
import { hasExpired, refuseRead } from '../store/readable.ts';
import type { StoredGrain } from '../store/stored-grain.ts';
import { viewedSet } from '../store/viewed-docs.ts';
import { bindingOf, isViewed, isWithin } from '../store/within.ts';
import { reasonDetail } from './actor.ts';
import { allowSupersede, allowWrite, auditPii } from './decided.ts';
import { checkParents } from './goal-parents.ts';
import type { Group } from './group.ts';
import { bindFields } from './narrow.ts';
import { prepareGrain } from './prepare.ts';
import { pseudonym } from './pseudonym.ts';

export type Version = Pick<StoredGrain, 'ordinal' | 'address' | 'name' | 'grain'>;

export function planSupersede(
  group: Group,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['supersede']['input'],
): MemoryCalls['supersede']['output'] {
  const old = versionNamed(group, memory, context, input.oldHash);
  if (group.isSuperseded(memory, old.ordinal)) throw new EngineError('MEM-E002');
  const merged = supersedeFields(old.grain, input.fields, input.grainType);
  const { hash, warnings } = writeVersion(group, memory, context, old, {
    fields: merged.fields,
    stated: input.fields,
    event: 'memory.corrected',
  });
  return { oldHash: old.address, newHash: hash, warnings };
}

export function planAccumulate(
  group: Group,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['accumulate']['input'],
): Accumulated {
  const { target } = input;
  const named =
    'hash' in target ? group.findOrdinal(memory, target.hash) : newestCurrent(group, memory, context, target);
  if (input.check === true) return found(group, memory, named);
  if (named === undefined && 'hash' in target) throw whyGone(group.store, memory, context, target.hash);
  const old = versionAt(group, memory, context, named === undefined ? undefined : group.tip(memory, named));
  const { fields, applied } = accumulateFields(old.grain, input.deltas, input.set);
  const version = writeVersion(group, memory, context, old, {
    fields,
    stated: input.set,
    event: 'memory.accumulated',
  });
  return { oldHash: old.address, newHash: version.hash, applied, fields: version.fields };
}

function found(group: Group, memory: Memory, ordinal: Ordinal | undefined): Accumulated {
  const stored = ordinal === undefined ? undefined : group.read(memory, ordinal);
  const { address = '', grain } = stored ?? {};
  return {
    oldHash: address,
    newHash: '',
    applied: [],
    fields: {},
    createdAtMs: Number(grain?.fields['created_at'] ?? 0),
  };
}

/** Like `versionAt`; MEM-E006 for an erased one. */
export function versionNamed(group: Group, memory: Memory, context: CallContext, hash: string): Version {
  const ordinal = group.findOrdinal(memory, hash);
  if (ordinal === undefined) throw whyGone(group.store, memory, context, hash);
  return versionAt(group, memory, context, ordinal);
}

/** MEM-E001 unless there is such a grain within the caller's binding; POL-E002, POL-E008 when it may not be read. */
export function versionAt(group: Group, memory: Memory, context: CallContext, ordinal: Ordinal | undefined): Version {
  const stored = ordinal === undefined ? undefined : group.read(memory, ordinal);
  if (stored === undefined || !isWithin(context, stored.grain)) throw new EngineError('MEM-E001');
  const refusal = refuseRead(memory, context, stored.grain, group.nowMs);
  if (refusal !== undefined) throw refusal;
  return stored;
}

export interface NewVersion {
  readonly fields: JsonObject;
  /** The fields of them that the caller stated. */
  readonly stated: JsonObject;
  /** Set when the server itself states the fields. */
  readonly by?: 'server' | undefined;
  readonly event: 'memory.corrected' | 'memory.accumulated' | 'goal.state_changed' | 'goal.delegated';
  /** Members of the audit entry besides those that every new version has. */
  readonly details?: Readonly<Record<string, string>> | undefined;
}

type Written = { readonly hash: string; readonly fields: JsonObject; readonly warnings: readonly string[] };

export function writeVersion(
  group: Group,
  memory: Memory,
  context: CallContext,
  old: Version,
  next: NewVersion,
): Written {
  return allowVersion(group, memory, context, old, next)();
}

/** Decides on a new version, and returns what writes it. Throws before anything is changed. */
export function allowVersion(
  group: Group,
  memory: Memory,
  context: CallContext,
  old: Version,
  { fields, stated, by, event, details = {} }: NewVersion,
): () => Written {
  allowSupersede(group, memory, context, old.grain);
  const versionFields: JsonObject = {
    ...bindFields(context, fields),
    derived_from: [...sourcesOf(fields), old.address],
  };
  if (context.reason !== undefined && context.reason !== '')
    versionFields['supersession_justification'] = context.reason;
  const prepared = prepareGrain(memory, old.grain.type, versionFields, group.nowMs, context.purpose, by);
  allowWrite(group, memory, context, prepared, stated);
  checkParents(group, memory, context, old.ordinal, old.grain, prepared);
  if (group.findOrdinal(memory, prepared.address) !== undefined) throw new EngineError('MEM-E002');
  return () => {
    const planned = group.addGrain(memory, prepared);
    group.supersede(memory, old.ordinal, planned);
    group.audit(memory, {
      event,
      actor: context.actor,
      subject: pseudonym(memory, prepared.userId),
      details: {
        grain: planned.name,
        grain_type: prepared.grain.type,
        old_grain: old.name,
        ...details,
        ...reasonDetail(group, memory, context.reason, prepared.userId),
      },
    });
    auditPii(group, memory, context, planned);
    const shown = toApi({ ...prepared.grain, header: EMPTY_HEADER }, { predecessor: old.address });
    return { hash: prepared.address, fields: shown, warnings: prepared.warnings };
  };
}

/** The sources that the caller names. The predecessor's address follows them. */
function sourcesOf(fields: JsonObject): JsonValue[] {
  const sent = fields['derived_from'];
  if (sent === undefined || sent === null) return [];
  return Array.isArray(sent) ? sent : [sent];
}

/**
 * The newest current grain of a subject and relation (and namespace, if given) that the caller sees and that has not
 * expired. Among equally new ones, the one with the lowest address, as in a list.
 */
function newestCurrent(
  group: Group,
  memory: Memory,
  context: CallContext,
  target: { readonly namespace?: string | undefined; readonly subject: string; readonly relation: string },
): Ordinal | undefined {
  const subject = tripleForm(target.subject);
  const relation = tripleForm(target.relation);
  const pair = pairKey(subject, relation);
  const { store } = group;
  const mayOutlive = !keepsForever(memory.governed.rules);
  let newest: { ordinal: Ordinal; createdAtMs: number; address?: string | undefined } | undefined;
  const consider = (ordinal: Ordinal, createdAtMs: number, expiresAtMs = Number.NaN, planned?: string): void => {
    if (newest !== undefined && createdAtMs < newest.createdAtMs) return;
    if (store.index.removed.get(ordinal) || group.isSuperseded(memory, ordinal) || expiresAtMs <= group.nowMs) return;
    let address = planned;
    if (newest?.createdAtMs === createdAtMs) {
      newest.address ??= store.addressAt(newest.ordinal) ?? '';
      address ??= store.addressAt(ordinal) ?? '';
      if (address >= newest.address) return;
    }
    if (mayOutlive && hasOutlived(group, memory, ordinal)) return;
    newest = { ordinal, createdAtMs, address };
  };
  const { namespace, userId } = context;
  const binding = bindingOf(memory, context);
  // The newest first: hardly any other is opened.
  for (const part of store.parts(memory.number).toReversed()) {
    const lists: Uint32Array[] = [part.facet('pair', pair) ?? NOTHING];
    for (const name of [namespace, target.namespace])
      if (name !== undefined) lists.push(part.facet('namespace', name) ?? NOTHING);
    if (userId !== undefined) lists.push(part.facet('user', userId) ?? NOTHING);
    const expires = part.numbers('expiresAtMs');
    const listed = intersect(lists);
    const seen = binding.view === undefined ? listed : viewedSet(part, binding.view).among(listed);
    for (const doc of seen.toReversed()) consider(part.ordinals[doc]!, part.createdAtMs[doc]!, expires?.[doc]);
  }
  for (const { ordinal, prepared } of group.peek(memory)?.grainsWith(subject, relation) ?? []) {
    const { indexed, address } = prepared;
    const isNamed = target.namespace === undefined || indexed.namespace === target.namespace;
    if (isNamed && isWithin(context, prepared.grain) && isViewed(binding, prepared.grain))
      consider(ordinal, indexed.createdAtMs, indexed.numbers.expiresAtMs, address);
  }
  return newest?.ordinal;
}

/** True for a grain that has outlived the times to live of the memory's policy. */
function hasOutlived(group: Group, memory: Memory, ordinal: Ordinal): boolean {
  const stored = group.read(memory, ordinal);
  return stored !== undefined && hasExpired(memory, stored.grain, group.nowMs);
}

const NOTHING = new Uint32Array(0);
const EMPTY_HEADER = { version: 1, flags: 0, typeByte: 0, namespaceHash: 0, createdAtSeconds: 0 };
