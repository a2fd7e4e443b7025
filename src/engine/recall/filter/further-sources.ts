// Which further sources of a known grain a caller is shown. No source is opened: a grain may have a hundred long ones.
import type { CallContext } from '../../calls/context.ts';
import type { GrainView } from '../../calls/grain.ts';
import type { Doc, IndexPart, Ordinal } from '../../index/parts/part.ts';
import { parseName } from '../../record/grain-name.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store, StoredGrain } from '../../store/store.ts';
import { viewGrain } from '../../store/view.ts';
import { shownIn } from './hidden.ts';

/** A grain as answers show it, with its further sources. Without a caller nothing that governs the memory hides them. */
export function viewWithSources(
  store: Store,
  memory: Memory,
  caller: CallContext | undefined,
  stored: StoredGrain,
): GrainView {
  const view = viewGrain(store, memory, stored);
  const sources = shownFurtherSources(store, memory, caller, stored.ordinal);
  return sources.length === 0 ? view : { ...view, sources };
}

/**
 * Hashes of the further sources of the grain at `ordinal`, the newest first: those that are still there, and that neither their end
 * nor the policy hides. They have the user and the namespace of the grain, so who was shown the grain may see them. Of one
 * in another partition its name.
 */
function shownFurtherSources(
  store: Store,
  memory: Memory,
  caller: CallContext | undefined,
  ordinal: Ordinal,
): string[] {
  const kept = store.furtherSources(memory.number, ordinal);
  if (kept.length === 0) return [];
  const shown = hashesShown(store, memory, caller);
  return kept
    .toReversed()
    .map(({ name }) => (parseName(name)?.partition === undefined ? shown(name) : name))
    .filter((hash) => hash !== undefined);
}

/** Tells the hashes of grains by their names: of those that are here and not hidden from the caller. */
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

/** Where the grain with that hash and that name is, unless it was removed. */
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
