// What one partition knows of beliefs that were read from texts, before they are stored: the router asks all of them, and sends
// each belief where it is known. It answers by what the plan of an add would find (add.ts), from published state.

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
  // Nothing is granted in it: it reads as plans do.
  const group = new Group(store);
  const facts = items.map((item, at): KnownFact => {
    try {
      if (storedReply(group, memory, 'add', itemContext(context, places[at] ?? at)) !== undefined) return ANSWERED;
      return { answered: false, ...knownHere(group, memory, prepareAdd(memory, context, item, group.nowMs)) };
    } catch (error) {
      // What is refused is refused when it is stored.
      if (error instanceof EngineError) return UNKNOWN;
      throw error;
    }
  });
  return { facts, sources: sources.map((hash) => extractedFrom(group, memory, hash) ?? null) };
}
