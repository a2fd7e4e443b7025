// Plans a merge: a new version of one grain takes the place of its duplicates too. All of them are linked to it in one
// transaction, and each of them keeps its history.
import { EngineError } from '../base/errors.ts';
import { PROVENANCE_ENTRIES_MAX } from '../base/limits.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { JsonObject, JsonValue } from '../grain/api/json-value.ts';
import { supersedeFields } from '../grain/api/merge.ts';
import { toApi } from '../grain/api/output.ts';
import { whyGone } from '../store/gone.ts';
import type { Memory } from '../store/memory.ts';
import { reasonDetail } from './actor.ts';
import { allowSupersede, allowWrite, auditPii } from './decided.ts';
import type { Group } from './group.ts';
import type { PlannedGrain } from './keyed-grains.ts';
import { bindFields } from './narrow.ts';
import { prepareGrain } from './prepare.ts';
import { pseudonym } from './pseudonym.ts';
import { type Version, versionAt } from './supersede.ts';

type Input = MemoryCalls['mergeGrains']['input'];

/**
 * MEM-E002 if one of them is no longer current; the code of the policy if it protects one of them. With `check` it only
 * checks.
 */
export function planMerge(
  group: Group,
  memory: Memory,
  context: CallContext,
  input: Input,
): MemoryCalls['mergeGrains']['output'] {
  const kept = currentVersion(group, memory, context, input.canonical);
  const duplicates = input.duplicates.map(({ hash }) => currentVersion(group, memory, context, hash));
  for (const duplicate of duplicates) refuseOther(kept, duplicate);
  for (const one of [kept, ...duplicates]) allowSupersede(group, memory, context, one.grain);
  const fields = bindFields(context, mergedFields(kept, input, context.reason));
  const prepared = prepareGrain(memory, kept.grain.type, fields, group.nowMs, context.purpose);
  allowWrite(group, memory, context, prepared);
  if (group.findOrdinal(memory, prepared.address) !== undefined) throw new EngineError('MEM-E002');
  if (input.check === true) return { hash: kept.address };
  const planned = group.addGrain(memory, prepared);
  // The canonical grain last: the last of the links names the predecessor of the new version.
  for (const old of [...duplicates, kept]) {
    group.supersede(memory, old.ordinal, planned);
    auditVersion(group, memory, context, old, planned);
  }
  auditPii(group, memory, context, planned);
  return { hash: prepared.address };
}

function currentVersion(group: Group, memory: Memory, context: CallContext, hash: string): Version {
  const ordinal = group.findOrdinal(memory, hash);
  if (ordinal === undefined) throw whyGone(group.store, memory, context, hash);
  const version = versionAt(group, memory, context, ordinal);
  if (group.isSuperseded(memory, ordinal)) throw new EngineError('MEM-E002');
  return version;
}

/** A merge never crosses types, namespaces or users. */
function refuseOther({ grain: kept }: Version, { grain: duplicate }: Version): void {
  const same = ['namespace', 'user_id'].every((name) => kept.fields[name] === duplicate.fields[name]);
  if (!same || kept.type !== duplicate.type)
    throw new EngineError('VAL-E001', 'only grains of one type, namespace and user can be merged');
}

/** Its time stays: the merged statement is no newer than its last confirmation. */
function mergedFields(kept: Version, { duplicates }: Input, reason: string | undefined): JsonObject {
  const shown = toApi(kept.grain, {});
  const known = shown['provenance_chain'];
  const merged = duplicates.map(({ hash, similarity }): JsonValue => {
    return { source_hash: hash, method: 'consolidation', weight: similarity };
  });
  const { fields } = supersedeFields(
    kept.grain,
    {
      created_at: Math.floor(Number(kept.grain.fields['created_at']) / 1000),
      consolidation_level: numberIn(shown, 'consolidation_level') + 1,
      success_count: numberIn(shown, 'success_count') + duplicates.length,
      provenance_chain: [...(Array.isArray(known) ? known : []), ...merged].slice(-PROVENANCE_ENTRIES_MAX),
    },
    undefined,
  );
  const because = reason === undefined || reason === '' ? {} : { supersession_justification: reason };
  return { ...fields, ...because, derived_from: [kept.address] };
}

function numberIn(fields: JsonObject, name: string): number {
  const value = fields[name];
  return typeof value === 'number' ? value : 0;
}

function auditVersion(group: Group, memory: Memory, context: CallContext, old: Version, planned: PlannedGrain): void {
  const { userId, grain } = planned.prepared;
  group.audit(memory, {
    event: 'memory.corrected',
    actor: context.actor,
    subject: pseudonym(memory, userId),
    details: {
      grain: planned.name,
      grain_type: grain.type,
      old_grain: old.name,
      ...reasonDetail(group, memory, context.reason, userId),
    },
  });
}
