// Plans one entry of an imported file's manifest: a version link and the verification flag. The author of the file
// wrote the entry, so it may do no more than a supersede by the same caller.

import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import type { CallContext } from '../calls/context.ts';
import type { ManifestEntry } from '../calls/grain.ts';
import { VERIFICATION_STATES, type VerificationState } from '../record/record.ts';
import type { Memory } from '../store/memory.ts';
import { reasonDetail } from './actor.ts';
import { allowSupersede } from './decided.ts';
import { closesCircle } from './goal-parents.ts';
import type { Group } from './group.ts';
import { pseudonym } from './pseudonym.ts';
import { type Version, versionAt } from './supersede.ts';

export interface LinkInput {
  readonly entry: ManifestEntry;
  /** False when the import refused the grain of the entry. */
  readonly isAccepted: boolean;
}

/** Throws EngineError when the entry does not count. An entry that repeats a known link or flag changes nothing. */
export function planLink(group: Group, memory: Memory, context: CallContext, { entry, isAccepted }: LinkInput): void {
  const old = isAccepted ? versionOf(group, memory, context, entry.hash) : refuseUnknown();
  const successor = successorOf(group, memory, context, old, entry);
  const state = stateOf(group, old, entry);
  if (successor === undefined && state === undefined) return;
  allowSupersede(group, memory, context, old.grain);
  if (successor !== undefined) group.link(memory, old.ordinal, successor.ordinal, entry.systemValidToMs);
  if (state !== undefined) group.setVerification(memory, old.ordinal, state);
  const { user_id: named } = old.grain.fields;
  const user = typeof named === 'string' && named !== '' ? named : undefined;
  group.audit(memory, {
    event: 'memory.corrected',
    actor: context.actor,
    subject: pseudonym(memory, user),
    details: defined({
      grain: successor?.name ?? old.name,
      grain_type: old.grain.type,
      old_grain: successor === undefined ? undefined : old.name,
      verification_status: state,
      ...reasonDetail(group, memory, context.reason, user),
    }),
    mark: successor === undefined ? 'none' : 'grain_superseded',
  });
}

/** The grain that replaces `old` from now on; undefined when the entry names none, or one that already does. */
function successorOf(
  group: Group,
  memory: Memory,
  context: CallContext,
  old: Version,
  { supersededBy }: ManifestEntry,
): Version | undefined {
  if (supersededBy === undefined) return undefined;
  const successor = versionOf(group, memory, context, supersededBy);
  if (group.isSuperseded(memory, old.ordinal)) {
    if (group.next(memory, old.ordinal) === successor.ordinal) return undefined;
    throw new EngineError('MEM-E002');
  }
  if (group.tip(memory, successor.ordinal) === old.ordinal)
    throw new EngineError('VAL-E001', 'a grain cannot supersede itself');
  if (closesCircle(group, memory, old.ordinal, successor.ordinal))
    throw new EngineError('VAL-E001', '`parent_goals` would make the goal its own ancestor');
  return successor;
}

/** The verification flag to record, if any. A file can only lower it: a worse flag here is kept. */
function stateOf(
  group: Group,
  { ordinal }: Version,
  { verificationStatus }: ManifestEntry,
): VerificationState | undefined {
  const state = VERIFICATION_STATES.find((name) => name === verificationStatus);
  if (state === undefined || state === '' || state === 'unverified') return undefined;
  const rankOf = (name: VerificationState): number => VERIFICATION_STATES.indexOf(name);
  const known = group.store.status.verification(ordinal);
  if (rankOf(known) > rankOf(state))
    throw new EngineError(
      'MEM-E002',
      `the grain is ${known} in this memory, and an import cannot change it to ${state}`,
    );
  return known === state ? undefined : state;
}

function versionOf(group: Group, memory: Memory, context: CallContext, hash: string): Version {
  const ordinal = group.findOrdinal(memory, hash);
  return ordinal === undefined ? refuseUnknown() : versionAt(group, memory, context, ordinal);
}

/** The same message for a refused grain, a missing one and one outside the caller's binding. */
function refuseUnknown(): never {
  throw new EngineError('MEM-E001');
}
