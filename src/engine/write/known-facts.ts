// Says, before extracted beliefs are stored, which of them one partition knows: the router asks all partitions and
// sends each belief to the one that knows it. The answer comes from the same code as the plan of an add (add.ts), over
// published state.

import { EngineError } from '../base/errors.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { KnownFact } from '../calls/grain.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { knownHere } from './add.ts';
import { extractedFrom } from './further-source.ts';
import { Group } from './group.ts';
import { prepareAdd } from './plans.ts';
import { itemContext, storedReply } from './reply.ts';

const UNKNOWN: KnownFact = { answered: false, known: false, fromTexts: [] };
const ANSWERED: KnownFact = { ...UNKNOWN, answered: true };

export function knownFacts(
  store: Store,
  memory: Memory,
  context: CallContext,
  { items, places, sources }: MemoryCalls['knownFacts']['input'],
): MemoryCalls['knownFacts']['output'] {
  // It grants nothing; it only reads as plans do.
  const group = new Group(store);
  const facts = items.map((item, at): KnownFact => {
    try {
      if (storedReply(group, memory, 'add', itemContext(context, places[at] ?? at)) !== undefined) return ANSWERED;
      return { answered: false, ...knownHere(group, memory, prepareAdd(memory, context, item, group.nowMs)) };
    } catch (error) {
      // A belief that must be refused is refused when it is stored.
      if (error instanceof EngineError) return UNKNOWN;
      throw error;
    }
  });
  return { facts, sources: sources.map((hash) => extractedFrom(group, memory, hash) ?? null) };
}
