// Shows a turn of a harness, and lists the conversations of one.
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import {
  noTurn,
  placeOf,
  refuseTurn,
  slugToken,
  talkAt,
  talkAtState,
  talkState,
  talksAtState,
  turnAt,
  turnToken,
} from '../store/turns.ts';
import { bindingOf, isBound } from '../store/within.ts';
import type { Turn } from '../turn/turn.ts';

/** Entries of the state that are read between two yields. */
const READ_EACH = 64;

/** HRN-E004; POL-E002, POL-E008 and AUT-E001 as for a message of the turn. */
export function readTurn(store: Store, memory: Memory, context: CallContext, sessionId: string): Turn {
  const turn = turnAt(store.log, memory, turnToken(memory, sessionId));
  if (turn === undefined) throw noTurn(sessionId);
  const refusal = refuseTurn(memory, context, turn, store.clock.nowMs());
  if (refusal !== undefined) throw refusal;
  return turn;
}

type Listed = MemoryCalls['conversations'];

/** Newest first, without those that the caller may not read. Yields while it reads the state. */
export function* listConversations(
  store: Store,
  memory: Memory,
  context: CallContext,
  { slug, limit, after }: Listed['input'],
): Generator<void, Listed['output'], void> {
  const { log } = store;
  const nowMs = store.clock.nowMs();
  const slugged = slugToken(memory, slug);
  const isPart = isBound(bindingOf(memory, context));
  const from = after === undefined ? '' : talkAtState(memory, slugged, after.updatedAtMs, after.token);
  const found: Listed['output']['conversations'][number][] = [];
  let more = false;
  let read = 0;
  let count = 0;
  for (const [name] of log.scanState(talksAtState(memory, slugged))) {
    count += 1;
    read += 1;
    if (read % READ_EACH === 0) yield;
    if (name <= from) continue;
    // Only the count is still of interest.
    if (more) {
      if (isPart) break;
      continue;
    }
    const { token } = placeOf(name);
    const talk = talkAt(log, memory, talkState(memory, slugged, token));
    if (talk === undefined || refuseTurn(memory, context, talk, nowMs) !== undefined) continue;
    if (found.length === limit) {
      more = true;
      continue;
    }
    const { turns: _, ...view } = talk;
    found.push({ ...view, token });
  }
  return { conversations: found, total: isPart ? null : count, more };
}
