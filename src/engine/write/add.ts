// Plans an add: a duplicate is answered with the existing grain, any other grain is stored.

import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import type { CallContext } from '../calls/context.ts';
import type { AddItem, ExtractedFrom, KnownFact } from '../calls/grain.ts';
import { GrainDetails } from '../govern/trail/audit.ts';
import { tripleForm } from '../grain/api/text.ts';
import { intersect } from '../index/docs/docset.ts';
import { type Doc, type IndexPart, type Ordinal, pairKey } from '../index/parts/part.ts';
import type { Memory } from '../store/memory.ts';
import { hasExpired } from '../store/readable.ts';
import type { StoredGrain } from '../store/stored-grain.ts';
import { docsOfUsers } from '../store/viewed-docs.ts';
import { allowSupersede, allowWrite, auditPii } from './decided.ts';
import { addFurtherSource, elsewhereWhenFull, textHash } from './further-source.ts';
import { checkNewGoal, checkParentTypes } from './goal-parents.ts';
import type { Group } from './group.ts';
import type { PreparedGrain } from './prepare.ts';
import { pseudonym } from './pseudonym.ts';
import { isSimilar } from './similarity.ts';

export interface Added {
  readonly hash: string;
  readonly duplicate: boolean;
  readonly warnings: readonly string[];
}

type Rival = Pick<StoredGrain, 'ordinal' | 'address' | 'name' | 'grain'>;

/** Beliefs of one subject, relation, namespace and user that a new one is compared with, newest first. */
const RIVALS_MAX = 100;

/** A warning for an added or imported consent grain: it is stored, but no decision uses it. */
const GRANTS_NOTHING = 'a consent that is added as a grain has no effect: use GrantConsent or RevokeConsent';

export function planAdd(
  group: Group,
  memory: Memory,
  context: CallContext,
  prepared: PreparedGrain,
  {
    event = 'memory.added',
    source,
    knownOnly,
    gone,
    related = 0,
    awaited,
    answers,
    check,
  }: Pick<AddItem, 'source' | 'knownOnly' | 'gone' | 'related' | 'awaited' | 'answers' | 'check'> & {
    readonly event?: AddItem['event'] | 'memory.added' | 'memory.imported' | undefined;
  } = {},
): Added {
  allowWrite(group, memory, context, prepared);
  if (check === true) return { hash: prepared.address, duplicate: false, warnings: prepared.warnings };
  // Its text is from a time when the message was there, such as before the erasure of its person.
  if (answers !== undefined && group.nameOf(memory, answers) === undefined)
    throw new EngineError('MEM-E001', 'the message that this answers was removed');
  if (event === 'memory.extracted' && knownOnly !== true) checkSource(group, memory, prepared);
  const duplicate =
    findDuplicate(group, memory, prepared) ??
    (event === 'memory.extracted' ? findKnownFact(group, memory, prepared, source) : undefined);
  if (duplicate === undefined && knownOnly === true) throw new EngineError('MEM-E001', 'the fact was removed');
  const warnings = prepared.grain.type === 'consent' ? [...prepared.warnings, GRANTS_NOTHING] : prepared.warnings;
  if (duplicate !== undefined) {
    const unlinked =
      event === 'memory.extracted'
        ? addFurtherSource(group, memory, context, { prepared, known: duplicate, source, gone })
        : undefined;
    const allWarnings = unlinked === undefined ? warnings : [...warnings, unlinked];
    return { hash: duplicate, duplicate: true, warnings: allWarnings };
  }
  // A file may hold goals of builds that did not check this.
  if (event !== 'memory.imported') checkParentTypes(group, memory, context, prepared);
  checkNewGoal(group, memory, prepared, awaited);
  const replaced = memory.settings.dedup === 'upsert' ? replacedBy(group, memory, prepared) : undefined;
  if (replaced !== undefined) allowSupersede(group, memory, context, replaced.grain);
  const planned = group.addGrain(memory, prepared);
  if (replaced !== undefined) group.supersede(memory, replaced.ordinal, planned);
  const mark = replaced === undefined ? 'grain_created' : 'grain_superseded';
  group.audit(memory, {
    event: replaced === undefined ? event : 'memory.corrected',
    actor: context.actor,
    subject: pseudonym(memory, prepared.userId),
    details:
      replaced === undefined && related === 0
        ? new GrainDetails(planned, prepared.grain.type)
        : defined({
            grain: planned.name,
            grain_type: prepared.grain.type,
            old_grain: replaced?.name,
            related: related === 0 ? undefined : related,
          }),
    mark: related === 0 ? mark : `${mark}+auto_related`,
  });
  auditPii(group, memory, context, planned);
  return { hash: prepared.address, duplicate: false, warnings };
}

/**
 * Refuses an extracted grain whose source was erased meanwhile, because it must not outlive its source. Grains of one
 * person or one session share a partition. Other sources may be in another partition and are not checked.
 */
function checkSource(group: Group, memory: Memory, { grain: { fields }, userId }: PreparedGrain): void {
  const shared = memory.settings.partitions === 1 || userId !== undefined || typeof fields['session_id'] === 'string';
  if (!shared) return;
  const sources = Array.isArray(fields['derived_from']) ? fields['derived_from'] : [];
  for (const source of sources)
    if (typeof source !== 'string' || group.nameOf(memory, source) === undefined)
      throw new EngineError('MEM-E001', 'the source of this grain was removed');
}

/** The address of the grain that makes this one a duplicate by the memory's rule. Equal bytes always do. */
function findDuplicate(group: Group, memory: Memory, prepared: PreparedGrain): string | undefined {
  const same = group.findOrdinal(memory, prepared.address);
  if (same !== undefined && !group.store.isErasedAt(same)) return prepared.address;
  const { dedup, dedupThreshold } = memory.settings;
  if (dedup === 'none') return undefined;
  const exact = findIdentical(group, memory, prepared);
  if (exact !== undefined || dedup !== 'fuzzy') return exact;
  const { object } = prepared.indexed;
  return rivals(group, memory, prepared).find(
    (rival) => object !== undefined && isSimilar(objectOf(rival), object, dedupThreshold),
  )?.address;
}

/** The belief that an upsert supersedes: the newest one with another object. */
function replacedBy(group: Group, memory: Memory, prepared: PreparedGrain): Rival | undefined {
  return rivals(group, memory, prepared).find((rival) => objectOf(rival) !== prepared.indexed.object);
}

/** The object as the triple index has it. */
function objectOf({ grain }: Rival): string {
  const { object } = grain.fields;
  return typeof object === 'string' ? tripleForm(object) : '';
}

/** A current grain with the same identity (service contract section 1, Dedup), in this group or committed. */
function findIdentical(group: Group, memory: Memory, prepared: PreparedGrain): string | undefined {
  const { identity } = prepared.indexed;
  if (identity === undefined) return undefined;
  const planned = group.peek(memory)?.withIdentity(identity);
  const isCurrent = planned !== undefined && !group.isSuperseded(memory, planned.ordinal);
  if (isCurrent && !hasExpired(memory, planned.prepared.grain, group.nowMs)) return planned.prepared.address;
  const { store } = group;
  const parts = store.parts(memory.number);
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts[i]!;
    const docs = part.identity(identity);
    // Most parts have none, and an iterator for each would be most of the garbage of a look-up.
    for (let at = 0; at < docs.length; at++) {
      const doc = docs[at]!;
      const ordinal = part.ordinals[doc]!;
      if (store.index.removed.get(ordinal) || group.isSuperseded(memory, ordinal)) continue;
      if (isGone(group, memory, part, doc)) continue;
      const address = store.addressAt(ordinal);
      if (address !== undefined) return address;
    }
  }
  return undefined;
}

/**
 * A fact is known when a current belief of the same person and namespace states it. Source, session and tags do not
 * make another fact; another `valid_from` does. Under upsert a superseded belief is known too, but only for the text
 * that it was extracted from. Otherwise a text that states two objects would replace both each time it is sent.
 */
function findKnownFact(
  group: Group,
  memory: Memory,
  prepared: PreparedGrain,
  source: ExtractedFrom | undefined,
): string | undefined {
  let said: string | undefined;
  for (const { address, fromText } of factsKnown(group, memory, prepared)) {
    if (fromText === undefined) return address;
    said ??= source === undefined ? sourceText(group, memory, prepared.grain) : source.textHash;
    if (said === fromText) return address;
  }
  return undefined;
}

/**
 * Facts that may make this one known, newest first. One with `fromText` counts only for an extraction from the text
 * with that hash.
 */
function* factsKnown(
  group: Group,
  memory: Memory,
  prepared: PreparedGrain,
): Generator<{ readonly address: string; readonly fromText?: string | undefined }> {
  const { dedup } = memory.settings;
  if (dedup === 'none') return;
  const { fields } = prepared.grain;
  for (const { grain, ordinal, address } of factsLike(group, memory, prepared)) {
    if (fields['valid_from'] !== undefined && fields['valid_from'] !== grain.fields['valid_from']) continue;
    if (!group.isSuperseded(memory, ordinal)) yield { address };
    else if (dedup === 'upsert') {
      const fromText = sourceText(group, memory, grain);
      if (fromText !== undefined) yield { address, fromText };
    }
  }
}

/** How this partition would treat an extracted belief: stored, or known. */
export function knownHere(group: Group, memory: Memory, prepared: PreparedGrain): Omit<KnownFact, 'answered'> {
  const fromTexts: string[] = [];
  let known = findDuplicate(group, memory, prepared);
  for (const { address, fromText } of known === undefined ? factsKnown(group, memory, prepared) : []) {
    if (fromText === undefined) {
      known = address;
      break;
    }
    fromTexts.push(fromText);
  }
  const elsewhere = known === undefined ? [] : elsewhereWhenFull(group, memory, known);
  return defined({ known: known !== undefined, fromTexts, elsewhere: elsewhere.length === 0 ? undefined : elsewhere });
}

/** The hash of the text of the source grain, if that grain is here and has text. */
function sourceText(group: Group, memory: Memory, { fields }: Pick<Rival['grain'], 'fields'>): string | undefined {
  const [source] = Array.isArray(fields['derived_from']) ? fields['derived_from'] : [];
  const ordinal = typeof source === 'string' ? group.findOrdinal(memory, source) : undefined;
  const grain = ordinal === undefined ? undefined : group.read(memory, ordinal)?.grain;
  return grain === undefined ? undefined : textHash(grain);
}

/** An expired grain is gone for every caller, so it makes nothing a duplicate. */
function isGone(group: Group, memory: Memory, part: IndexPart, doc: Doc): boolean {
  if (memory.governed.hidesNothing) return (part.numbers('expiresAtMs')?.[doc] ?? Number.NaN) <= group.nowMs;
  const stored = group.store.readGrain(memory, part.ordinals[doc]!);
  return stored === undefined || hasExpired(memory, stored.grain, group.nowMs);
}

/** Current beliefs of the same subject, relation, namespace and user, newest first. */
function rivals(group: Group, memory: Memory, prepared: PreparedGrain): Rival[] {
  return readRivals(
    group,
    memory,
    prepared,
    ordinalsLike(group, memory, prepared, (ordinal) => !group.isSuperseded(memory, ordinal)),
  );
}

/** Beliefs of the same subject, relation, object, namespace and user, superseded ones included, newest first. */
function factsLike(group: Group, memory: Memory, prepared: PreparedGrain): Rival[] {
  const { object } = prepared.indexed;
  if (object === undefined) return [];
  const ordinals = ordinalsLike(group, memory, prepared, () => true, object);
  return readRivals(group, memory, prepared, ordinals).filter((rival) => objectOf(rival) === object);
}

/**
 * Positions of grains with the same subject and relation, and the object if one is given, newest first. A few grains of
 * other users or namespaces may be among them.
 */
function ordinalsLike(
  group: Group,
  memory: Memory,
  { indexed }: PreparedGrain,
  counts: (ordinal: Ordinal) => boolean,
  object?: string,
): Ordinal[] {
  const { subject, relation, namespace, user, type } = indexed;
  if (type !== 'belief' || subject === undefined || relation === undefined) return [];
  const { store } = group;
  const found: Ordinal[] = [];
  const consider = (ordinal: Ordinal): void => {
    if (!store.index.removed.get(ordinal) && counts(ordinal)) found.push(ordinal);
  };
  for (const { ordinal, prepared } of (group.peek(memory)?.grainsWith(subject, relation) ?? []).reverse())
    if (prepared.indexed.user === user && prepared.indexed.namespace === namespace) consider(ordinal);
  const parts = store.parts(memory.number);
  const pair = pairKey(subject, relation);
  const lists = parts.map((part) => docsLike(part, pair, object));
  // Long lists are read only when others' grains, of all parts together, could fill the places.
  const areMany = lists.reduce((sum, { length }) => sum + length, found.length) > RIVALS_MAX;
  for (let i = parts.length - 1; i >= 0 && found.length < RIVALS_MAX; i--) {
    const part = parts[i]!;
    const docs = areMany ? ownDocs(part, lists[i]!, indexed) : lists[i]!;
    for (let j = docs.length - 1; j >= 0 && found.length < RIVALS_MAX; j--) consider(part.ordinals[docs[j]!]!);
  }
  return found;
}

function docsLike(part: IndexPart, pair: string, object: string | undefined): Uint32Array {
  const lists = [part.facet('pair', pair), ...(object === undefined ? [] : [part.facet('object', object)])];
  return intersect(lists.map((list) => list ?? NOTHING));
}

/** Those of the docs that have the grain's namespace and user. */
function ownDocs(part: IndexPart, docs: Uint32Array, { namespace, user }: PreparedGrain['indexed']): Uint32Array {
  if (docs.length === 0) return docs;
  const here = part.facet('namespace', namespace) ?? NOTHING;
  if (user !== undefined) return intersect([docs, here, part.facet('user', user) ?? NOTHING]);
  const owned = docsOfUsers(part);
  return intersect([docs, here]).filter((doc) => !owned.has(doc));
}

const NOTHING = new Uint32Array(0);

/** The readable ones that are beliefs of the same namespace and user. */
function readRivals(group: Group, memory: Memory, prepared: PreparedGrain, ordinals: readonly Ordinal[]): Rival[] {
  const { namespace, user } = prepared.indexed;
  const found: Rival[] = [];
  for (const ordinal of ordinals) {
    const stored = group.read(memory, ordinal);
    if (stored === undefined || hasExpired(memory, stored.grain, group.nowMs)) continue;
    const { fields, type: storedType } = stored.grain;
    const same =
      storedType === 'belief' && fields['namespace'] === namespace && (fields['user_id'] ?? undefined) === user;
    if (same) found.push(stored);
  }
  return found;
}
