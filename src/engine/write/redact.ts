// Plans the removal of an erased user from others' grains. Of those that have the name as subject or object, a redacted
// version replaces the current one, and every version that names the user is removed. Grains that a model wrote from
// the user's grains are removed: nobody can tell which of its words were the user's.

import { EngineError } from '../base/errors.ts';
import { REDACTIONS_MAX } from '../base/limits.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { AuditDraft } from '../govern/trail/audit.ts';
import { tripleForm } from '../grain/api/text.ts';
import { encodeGrain } from '../grain/codec/blob.ts';
import { sensitivityOf } from '../grain/codec/header.ts';
import { GrainError } from '../grain/error.ts';
import type { Grain } from '../grain/grain.ts';
import type { Value, ValueMap } from '../grain/value.ts';
import type { Ordinal } from '../index/parts/part.ts';
import { fromUser } from '../store/indexed-fields.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import type { StoredGrain } from '../store/stored-grain.ts';
import { reasonDetail } from './actor.ts';
import type { Group } from './group.ts';
import { type PreparedGrain, prepareBlob } from './prepare.ts';
import { pseudonym } from './pseudonym.ts';

const SIDES = ['subject', 'object'] as const;

/**
 * Handles as many grains as one group takes; `more` when others are left. It asks no policy, because it completes an
 * erasure that was allowed. It does nothing for a user who was not erased here or elsewhere (`keyFingerprint` is '').
 */
export function planRedact(
  group: Group,
  memory: Memory,
  context: CallContext,
  { userId, keyFingerprint }: MemoryCalls['redactUser']['input'],
): MemoryCalls['redactUser']['output'] {
  if (context.namespace !== undefined || (context.userId !== undefined && context.userId !== userId))
    throw new EngineError('AUT-E001', "a redaction reaches beyond this caller's binding");
  const { naming, written } = keyFingerprint === '' ? NOTHING : grainsNaming(group.store, memory, userId);
  const now = naming.slice(0, REDACTIONS_MAX);
  if (now.length === 0) return { redacted: 0, removed: 0, more: false };
  let redacted = 0;
  const going = new Set(naming);
  for (const ordinal of now)
    if (
      !written.has(ordinal) &&
      replaceTip(group, memory, ordinal, (old) =>
        withoutName(group.store, memory, old, going, { userId, keyFingerprint }),
      )
    )
      redacted += 1;
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
      ...reasonDetail(group, memory, context.reason, userId),
    },
  });
  return { redacted, removed: now.length, more: naming.length > now.length };
}

/**
 * Removes the hashes of erased grains from others' grains. A version that somebody made of an erased person's grain,
 * under another user or in another scope, names it among its sources. Call it while the erased grains can still be
 * read. The trail records the number of changed grains with the `base` details of the erasure.
 */
export function redactSuccessors(
  group: Group,
  memory: Memory,
  erased: readonly Ordinal[],
  { details, ...base }: Pick<AuditDraft, 'actor' | 'subject' | 'details'>,
): void {
  const { store } = group;
  const going = new Set(erased);
  const removed = new Set<Ordinal>();
  let redacted = 0;
  for (const ordinal of erased) {
    const next = store.status.supersession(memory.number, ordinal)?.newOrdinal;
    if (next === undefined || going.has(next) || removed.has(next) || store.index.removed.get(next)) continue;
    if (!namesSource(store.readGrain(memory, next), store.addressAt(ordinal))) continue;
    if (
      replaceTip(group, memory, next, ({ grain }) =>
        withSources(grain.fields, sourcesLeft(store, memory, next, grain, going)),
      )
    )
      redacted += 1;
    removed.add(next);
  }
  if (removed.size === 0) return;
  group.audit(memory, {
    event: 'erasure.cross_user_redacted',
    ...base,
    details: { redacted, removed: removed.size, ...details },
  });
  group.remove(memory, [...removed], 'erased');
}

/** False for a version that does not name its predecessor: an upsert or a file linked the two. An unreadable version may. */
function namesSource(stored: StoredGrain | undefined, predecessor: string | undefined): boolean {
  if (stored === undefined || predecessor === undefined) return true;
  const sources = stored.grain.fields['derived_from'];
  return Array.isArray(sources) && sources.includes(predecessor);
}

interface Naming {
  readonly naming: readonly Ordinal[];
  /** Those of `naming` that were written from the user's grains. */
  readonly written: ReadonlySet<Ordinal>;
}

const NOTHING: Naming = { naming: [], written: new Set() };

/**
 * Grains that have the user as subject or object, or were written from the user's grains. They do not belong to the user,
 * since those were written after the erasure. Newest first, so that a version is handled before its predecessors, which are
 * among its sources.
 */
function grainsNaming(store: Store, memory: Memory, userId: string): Naming {
  const name = tripleForm(userId);
  const found: Ordinal[] = [];
  const written = new Set<Ordinal>();
  for (const part of store.parts(memory.number)) {
    const own = new Set(part.facet('user', userId) ?? []);
    const docs = new Set(SIDES.flatMap((side) => [...(part.facet(side, name) ?? [])]));
    for (const doc of part.facet('field', fromUser(userId)) ?? []) {
      docs.add(doc);
      written.add(part.ordinals[doc]!);
    }
    for (const doc of [...docs].sort((a, b) => part.ordinals[a]! - part.ordinals[b]!)) {
      const ordinal = part.ordinals[doc]!;
      if (!own.has(doc) && !store.index.removed.get(ordinal)) found.push(ordinal);
    }
  }
  return { naming: found.reverse(), written };
}

/** True when a redacted version replaced a current one. */
function replaceTip(
  group: Group,
  memory: Memory,
  ordinal: Ordinal,
  redactedFields: (old: StoredGrain) => ValueMap,
): boolean {
  const { store } = group;
  if (group.isSuperseded(memory, ordinal)) return false;
  const old = store.readGrain(memory, ordinal);
  // An unreadable version is removed with the others.
  if (old === undefined) return false;
  const prepared = redactedVersion(memory, old, redactedFields(old));
  if (prepared === undefined || group.findOrdinal(memory, prepared.address) !== undefined) return false;
  const planned = group.addGrain(memory, prepared);
  group.supersede(memory, ordinal, planned);
  const verification = store.status.verification(ordinal);
  if (verification !== '') group.setVerification(memory, planned.ordinal, verification);
  return true;
}

/** The fields with the fingerprint in place of the name. */
function withoutName(
  store: Store,
  memory: Memory,
  { ordinal, grain }: StoredGrain,
  going: ReadonlySet<Ordinal>,
  { userId, keyFingerprint }: { readonly userId: string; readonly keyFingerprint: string },
): ValueMap {
  const name = tripleForm(userId);
  const fields: { -readonly [K in keyof ValueMap]: ValueMap[K] } = { ...grain.fields };
  for (const side of SIDES) {
    const value = fields[side];
    if (typeof value === 'string' && tripleForm(value) === name) fields[side] = `erased:${keyFingerprint}`;
  }
  return withSources(fields, sourcesLeft(store, memory, ordinal, grain, going));
}

/**
 * The sources of a version without its predecessor, if that is removed too. The version being redacted is not named
 * either: with its hash and the rest of its text, the name could be guessed.
 */
function sourcesLeft(
  store: Store,
  memory: Memory,
  ordinal: Ordinal,
  { fields }: Pick<Grain, 'fields'>,
  going: ReadonlySet<Ordinal>,
): readonly Value[] {
  const sources = Array.isArray(fields['derived_from']) ? fields['derived_from'] : [];
  const before = store.status.predecessor(memory.number, ordinal)?.oldOrdinal;
  const gone = before !== undefined && going.has(before) ? store.addressAt(before) : undefined;
  return gone === undefined ? sources : sources.filter((source) => source !== gone);
}

function withSources({ derived_from: _, ...fields }: ValueMap, sources: readonly Value[]): ValueMap {
  return sources.length === 0 ? fields : { ...fields, derived_from: [...sources] };
}

/** The grain with other fields and the same time; undefined when no such grain is valid. */
function redactedVersion(memory: Memory, { grain }: StoredGrain, fields: ValueMap): PreparedGrain | undefined {
  try {
    const { blob } = encodeGrain(grain.typeString, fields, { sensitivity: sensitivityOf(grain.header) });
    return prepareBlob(memory, blob);
  } catch (error) {
    // Some fields accept the name and not the fingerprint. Then the grain is removed.
    if (error instanceof GrainError || error instanceof EngineError) return undefined;
    throw error;
  }
}
