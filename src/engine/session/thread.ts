// A chat thread is a session with a state that has the tag of threads. The current such state holds the title, whether the
// thread is archived, and the caller's metadata. Its messages are the events of the session.
import type { EngineError } from '../base/errors.ts';
import type { CallContext } from '../calls/context.ts';
import type { GrainView } from '../calls/grain.ts';
import { type SessionSize, THREAD_TAG } from '../calls/session.ts';
import { intersect } from '../index/docs/docset.ts';
import type { IndexPart } from '../index/parts/part.ts';
import { filterPart } from '../recall/filter/filter.ts';
import { viewWithSources } from '../recall/filter/further-sources.ts';
import type { Memory } from '../store/memory.ts';
import { refuseRead } from '../store/readable.ts';
import type { Store } from '../store/store.ts';
import { isWithin } from '../store/within.ts';

/**
 * The state of a thread; null when this partition has none that the caller may view. Throws POL-E008 and POL-E002 when
 * its person is restricted or has withdrawn consent.
 */
export function threadState(store: Store, memory: Memory, context: CallContext, threadId: string): GrainView | null {
  let refused: EngineError | undefined;
  for (const part of store.parts(memory.number))
    for (const doc of threadDocs(part, threadId).toReversed()) {
      const ordinal = part.ordinals[doc]!;
      if (store.index.superseded.get(ordinal)) continue;
      const stored = store.readGrain(memory, ordinal);
      if (stored === undefined || !isWithin(context, stored.grain)) continue;
      const refusal = refuseRead(memory, context, stored.grain, store.clock.nowMs());
      if (refusal === undefined) return viewWithSources(store, memory, context, stored);
      refused ??= refusal.code.startsWith('POL-') ? refusal : undefined;
    }
  if (refused !== undefined) throw refused;
  return null;
}

function threadDocs(part: IndexPart, threadId: string): Uint32Array {
  const lists = [part.facet('session', threadId), part.facet('tag', THREAD_TAG), part.facet('type', 'state')];
  return intersect(lists.map((docs) => docs ?? NOTHING));
}

const NOTHING = new Uint32Array(0);

/** Number and time of the events of each session that the caller may see. */
export function sessionSizes(
  store: Store,
  memory: Memory,
  context: CallContext,
  sessionIds: readonly string[],
): readonly SessionSize[] {
  const parts = store.parts(memory.number);
  return sessionIds.map((sessionId) => {
    let count = 0;
    let lastMs = 0;
    for (const part of parts) {
      const { docs = NOTHING, test } = filterPart(store, part, { sessionId, grainTypes: ['event'] }, context);
      for (const doc of docs) {
        if (!test(doc)) continue;
        count += 1;
        lastMs = Math.max(lastMs, part.createdAtMs[doc]!);
      }
    }
    return { count, lastMs };
  });
}

export function mergeSizes(answers: readonly { readonly sizes: readonly SessionSize[] }[]): readonly SessionSize[] {
  return (answers[0]?.sizes ?? []).map((_, at) => {
    const all = answers.flatMap(({ sizes }) => sizes[at] ?? []);
    return {
      count: all.reduce((sum, { count }) => sum + count, 0),
      lastMs: Math.max(...all.map(({ lastMs }) => lastMs)),
    };
  });
}
