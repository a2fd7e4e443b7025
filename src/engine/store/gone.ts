// Determines why there is no grain with a requested hash. An erased grain is known as such while this process remembers
// it, or until the purge removes it from the index. No list of erased hashes is on disk: a reader of the disk could
// hash guesses of an erased text and compare.

import { EngineError } from '../base/errors.ts';
import type { CallContext } from '../calls/context.ts';
import type { AccessView } from '../govern/access/access.ts';
import type { Doc, IndexPart } from '../index/parts/part.ts';
import { lowerBound } from '../index/text/tail.ts';
import type { Memory } from './memory.ts';
import type { Store } from './store.ts';
import { type Binding, bindingOf, isBound } from './within.ts';

/** MEM-E006 for an erased grain within the caller's binding, else MEM-E001. */
export function whyGone(store: Store, memory: Memory, context: CallContext, address: string): EngineError {
  return new EngineError(isErased(store, memory, address, bindingOf(memory, context)) ? 'MEM-E006' : 'MEM-E001');
}

/** True for an erased grain within the binding, as long as it is known as such. */
export function isErased(store: Store, memory: Memory, address: string, binding: Binding = {}): boolean {
  // The list does not name the owners of the grains, so it is not used for a bound caller.
  if (!isBound(binding) && store.erased.has(memory.number, address)) return true;
  const { erased } = store.index;
  if (erased.count > 0)
    for (const part of store.parts(memory.number))
      for (const doc of part.address(address))
        if (erased.get(part.ordinals[doc]!) && isWithin(part, doc, binding)) return true;
  return false;
}

function isWithin(part: IndexPart, doc: Doc, { namespace, userId, view }: Binding): boolean {
  return (
    (view === undefined || isViewedAt(part, doc, view)) &&
    (namespace === undefined || holds(part.facet('namespace', namespace), doc)) &&
    (userId === undefined || holds(part.facet('user', userId), doc))
  );
}

function isViewedAt(part: IndexPart, doc: Doc, view: AccessView): boolean {
  for (const [namespace] of part.facetValues('namespace'))
    if (holds(part.facet('namespace', namespace), doc)) return view.has(namespace);
  return false;
}

function holds(docs: Uint32Array | undefined, doc: Doc): boolean {
  if (docs === undefined) return false;
  const at = lowerBound(docs, doc, 0, docs.length);
  return at < docs.length && docs[at] === doc;
}
