// Plans taking an erased user's name out of the grains of others, where it is subject or object: a redacted version
// replaces the current one, and every version that names the user is removed.
import type { CallContext, MemoryCalls } from '../calls.ts';
import { EngineError } from '../errors.ts';
import { tripleForm } from '../grain/api-text.ts';
import { encodeGrain } from '../grain/blob.ts';
import { GrainError } from '../grain/error.ts';
import { sensitivityOf } from '../grain/header.ts';
import type { ValueMap } from '../grain/value.ts';
import type { Ordinal } from '../index/part.ts';
import { REDACTIONS_MAX } from '../limits.ts';
import type { Memory } from '../store/memory.ts';
import type { Store, StoredGrain } from '../store/store.ts';
import { pseudonym, reasonDetail } from './actor.ts';
import type { Group } from './group.ts';
import { type PreparedGrain, prepareBlob } from './prepare.ts';

const SIDES = ['subject', 'object'] as const;

/**
 * As many grains as one group takes; `more` when others are left. No policy is asked: the erasure was allowed, and this
 * is the rest of it. Nothing happens for a user who was not erased here or elsewhere (`keyFingerprint` is '').
 */
export function planRedact(
  group: Group,
  memory: Memory,
  context: CallContext,
  { userId, keyFingerprint }: MemoryCalls['redactUser']['input'],
): MemoryCalls['redactUser']['output'] {
  if (context.namespace !== undefined || (context.userId !== undefined && context.userId !== userId))
    throw new EngineError('AUT-E001', 'a redaction reaches beyond what this caller sees');
  const naming = keyFingerprint === '' ? [] : grainsNaming(group.store, memory, userId);
  const now = naming.slice(0, REDACTIONS_MAX);
  if (now.length === 0) return { redacted: 0, removed: 0, more: false };
  let redacted = 0;
  for (const ordinal of now) if (replaceTip(group, memory, ordinal, { userId, keyFingerprint })) redacted += 1;
  group.remove(memory, now, 'erased');
  group.renewIndexKey(memory);
  group.audit(memory, {
    event: 'erasure.cross_user_redacted',
    actor: context.actor,
    subject: pseudonym(memory, userId),
    details: {
      redacted,
      removed: now.length,
      key_fingerprint: keyFingerprint,
      ...reasonDetail(context.reason),
    },
  });
  return { redacted, removed: now.length, more: naming.length > now.length };
}

/** Grains, ascending, that have the user as subject or object and are not the user's own: those came after the erasure. */
function grainsNaming(store: Store, memory: Memory, userId: string): Ordinal[] {
  const name = tripleForm(userId);
  const found: Ordinal[] = [];
  for (const part of store.parts(memory.number)) {
    const own = new Set(part.facet('user', userId) ?? []);
    const docs = new Set(SIDES.flatMap((side) => [...(part.facet(side, name) ?? [])]));
    for (const doc of [...docs].sort((a, b) => a - b)) {
      const ordinal = part.ordinals[doc]!;
      if (!own.has(doc) && !store.index.removed.get(ordinal)) found.push(ordinal);
    }
  }
  return found;
}

/** True when a redacted version was put in the place of a current one. */
function replaceTip(
  group: Group,
  memory: Memory,
  ordinal: Ordinal,
  of: { readonly userId: string; readonly keyFingerprint: string },
): boolean {
  const { store } = group;
  if (group.isSuperseded(memory, ordinal)) return false;
  const old = store.readGrain(memory, ordinal);
  // One that cannot be read is removed with the others.
  if (old === undefined) return false;
  const prepared = redactedVersion(memory, old, of);
  if (prepared === undefined || group.findOrdinal(memory, prepared.address) !== undefined) return false;
  const planned = group.addGrain(memory, prepared);
  group.supersede(memory, ordinal, planned);
  const verification = store.verification(memory.number, ordinal);
  if (verification !== '') group.setVerification(memory, planned.ordinal, verification);
  return true;
}

/** The same grain, as old as it was, with the fingerprint where the name stood; undefined when no such grain can be. */
function redactedVersion(
  memory: Memory,
  { address, grain }: StoredGrain,
  { userId, keyFingerprint }: { readonly userId: string; readonly keyFingerprint: string },
): PreparedGrain | undefined {
  const name = tripleForm(userId);
  const fields: { -readonly [K in keyof ValueMap]: ValueMap[K] } = { ...grain.fields };
  for (const side of SIDES) {
    const value = fields[side];
    if (typeof value === 'string' && tripleForm(value) === name) fields[side] = `erased:${keyFingerprint}`;
  }
  const sources = Array.isArray(fields['derived_from']) ? fields['derived_from'] : [];
  fields['derived_from'] = [...sources, address];
  try {
    const { blob } = encodeGrain(grain.typeString, fields, { sensitivity: sensitivityOf(grain.header) });
    return prepareBlob(memory, blob);
  } catch (error) {
    // A format that takes the name and not what stands for it: then the grain goes.
    if (error instanceof GrainError || error instanceof EngineError) return undefined;
    throw error;
  }
}
