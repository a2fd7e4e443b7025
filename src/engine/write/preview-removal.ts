// Previews a removal. The same steps as in the removal itself find the grains, or refuse. Types and times come from the
// columns of the index. Nothing is removed. The preview leaves an audit entry.

import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { RemovalPreview } from '../calls/erasure.ts';
import { DocSet } from '../index/docs/docset.ts';
import type { Doc, IndexPart, Ordinal } from '../index/parts/part.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { checkDrop } from './attach.ts';
import { scopesToErase } from './erase-scope.ts';
import { forgetTargets, ordinalsOfUser } from './forget.ts';
import type { Group } from './group.ts';
import { pseudonym } from './pseudonym.ts';

type Input = MemoryCalls['previewRemoval']['input'];

export function planPreview(group: Group, memory: Memory, context: CallContext, input: Input): RemovalPreview {
  return noted(group, memory, context, input, previewOf(group, memory, context, input));
}

/** The grains that a forget would remove. */
export interface Found {
  readonly ordinals: readonly Ordinal[];
  readonly hashes: readonly string[];
  readonly notFound: readonly string[];
}

/** The preview of a forget whose grains are known. */
export function planPreviewOf(group: Group, memory: Memory, context: CallContext, found: Found): RemovalPreview {
  return noted(group, memory, context, { of: 'grains' }, previewOfFound(group.store, memory, found));
}

function noted(group: Group, memory: Memory, { actor }: CallContext, input: Input, preview: RemovalPreview) {
  group.audit(memory, {
    event: 'memory.searched',
    actor,
    subject: pseudonym(memory, input.of === 'user' ? input.userId : undefined),
    details: { count: preview.count, dry_run: input.of },
  });
  return preview;
}

function previewOfFound(store: Store, memory: Memory, { ordinals, hashes, notFound }: Found): RemovalPreview {
  return { ...counted(store, memory, ordinals), hashes, notFound };
}

function previewOf(group: Group, memory: Memory, context: CallContext, input: Input): RemovalPreview {
  const { store } = group;
  switch (input.of) {
    case 'grains': {
      const { targets, notFound } = forgetTargets(group, memory, context, input);
      const [ordinals, hashes] = [targets.map(({ ordinal }) => ordinal), targets.map(({ address }) => address)];
      return previewOfFound(store, memory, { ordinals, hashes, notFound });
    }
    case 'user':
      return counted(store, memory, ordinalsOfUser(group, memory, context, input.userId));
    case 'scope': {
      const { path, scopes } = scopesToErase(group, memory, context, input.path);
      const ordinals = scopes.flatMap((scope) => scope.ordinals);
      const counts = scopes.map((scope) => ({ path: scope.path, count: scope.ordinals.length }));
      return { ...counted(store, memory, ordinals), path, scopes: counts };
    }
    case 'memory':
      checkDrop(memory);
      return counted(store, memory, 'all');
  }
}

/** Counts of live grains, all versions. */
function counted(store: Store, memory: Memory, wanted: readonly Ordinal[] | 'all'): RemovalPreview {
  const isWanted = wanted === 'all' ? undefined : new Set(wanted);
  const byType: Record<string, number> = {};
  let count = 0;
  let oldestMs = Number.POSITIVE_INFINITY;
  let newestMs = Number.NEGATIVE_INFINITY;
  for (const part of store.parts(memory.number)) {
    const docs = docsOf(part, (ordinal) => !store.index.removed.get(ordinal) && (isWanted?.has(ordinal) ?? true));
    count += docs.length;
    for (const doc of docs) {
      oldestMs = Math.min(oldestMs, part.createdAtMs[doc]!);
      newestMs = Math.max(newestMs, part.createdAtMs[doc]!);
    }
    const chosen = DocSet.of(part.docCount, docs);
    for (const [type] of part.facetValues('type'))
      for (const doc of part.facet('type', type) ?? []) if (chosen.has(doc)) byType[type] = (byType[type] ?? 0) + 1;
  }
  return count === 0 ? { count, byType } : { count, byType, oldestMs, newestMs };
}

function docsOf(part: IndexPart, isWanted: (ordinal: Ordinal) => boolean): Doc[] {
  const docs: Doc[] = [];
  for (let doc = 0; doc < part.docCount; doc++) if (isWanted(part.ordinals[doc]!)) docs.push(doc);
  return docs;
}
