// Selects the further sources of a known grain that a caller may see. Opens no source, because a grain may have a
// hundred long ones.
import type { CallContext } from '../../calls/context.ts';
import type { GrainView } from '../../calls/grain.ts';
import type { Doc, IndexPart, Ordinal } from '../../index/parts/part.ts';
import { parseName } from '../../record/grain-name.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import type { StoredGrain } from '../../store/stored-grain.ts';
import { viewGrain } from '../../store/view.ts';
import { shownIn } from './hidden.ts';

/** A grain for an answer, with its further sources. Without a caller, the policy hides none of them. */
export function viewWithSources(
  store: Store,
  memory: Memory,
  caller: CallContext | undefined,
  stored: StoredGrain,
): GrainView {
  const view = viewGrain(store, memory, stored, caller);
  const sources = shownFurtherSources(store, memory, caller, stored.ordinal);
  return sources.length === 0 ? view : { ...view, sources };
}

/**
 * Further sources of the grain at `ordinal`, newest first, as hashes; those in another partition as grain names. Leaves
 * out sources that are gone, expired or hidden by the policy. Sources share the grain's user and namespace, so a caller
 * who sees the grain may see them.
 */
function shownFurtherSources(
  store: Store,
  memory: Memory,
  caller: CallContext | undefined,
  ordinal: Ordinal,
): string[] {
  const kept = store.status.furtherSources(memory.number, ordinal);
  if (kept.length === 0) return [];
  const shown = hashesShown(store, memory, caller);
  return kept
    .toReversed()
    .map(({ name }) => (parseName(name)?.partition === undefined ? shown(name) : name))
    .filter((hash) => hash !== undefined);
}

/** Resolves grain names to hashes, for grains in this partition that are not hidden from the caller. */
export function hashesShown(
  store: Store,
  memory: Memory,
  caller: CallContext | undefined,
): (name: string) => string | undefined {
  const tests = new Map<IndexPart, readonly ((doc: Doc) => boolean)[]>();
  return (name) => {
    const hash = memory.trail.addressNamed(name);
    const place = hash === undefined ? undefined : placeOf(store, memory, hash, name);
    if (place === undefined) return undefined;
    const { part, doc } = place;
    if (!tests.has(part)) tests.set(part, caller === undefined ? [] : shownIn(store, part, caller));
    return tests.get(part)!.every((test) => test(doc)) ? hash : undefined;
  };
}

/** The place of the grain with this hash and name; undefined if it was removed. */
function placeOf(
  store: Store,
  memory: Memory,
  hash: string,
  name: string,
): { readonly part: IndexPart; readonly doc: Doc } | undefined {
  for (const part of store.parts(memory.number))
    for (const doc of part.address(hash)) {
      const ordinal = part.ordinals[doc]!;
      if (!store.index.removed.get(ordinal) && store.nameHint(ordinal) === name) return { part, doc };
    }
  return undefined;
}
