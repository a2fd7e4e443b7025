// Finds the records of turns and conversations that have outlived the policy's times to live. They hold no text of their
// events, but ids, persons and the tools of a client.

import { leastEventDays } from '../../govern/policy/retention.ts';
import type { Sliced } from '../../index/files/section.ts';
import { CorruptRecord } from '../../log/log.ts';
import type { Memory } from '../../store/memory.ts';
import { recordedAtMs } from '../../store/rules.ts';
import type { Store } from '../../store/store.ts';
import { hasOutlived, recordAt, recordStates } from '../../store/turns.ts';

const DAY_MS = 86_400_000;
/** Entries of the state that are read between two yields. */
const READ_EACH = 64;

/** Their state entries; `namespace`: only those of this namespace. */
export function* outlivedTurns(store: Store, memory: Memory, namespace: string | undefined): Sliced<readonly string[]> {
  const { log } = store;
  const { rules } = memory.governed;
  const found: string[] = [];
  const days = leastEventDays(rules);
  if (days === undefined) return found;
  const nowMs = store.clock.nowMs();
  const beforeMs = nowMs - days * DAY_MS;
  let read = 0;
  for (const prefix of recordStates(memory))
    for (const [state, value] of log.scanState(prefix)) {
      if (++read % READ_EACH === 0) yield;
      const record = readable(() => {
        // Most records are young, which shows without opening them.
        const isOld = (recordedAtMs(log, value) ?? nowMs) <= beforeMs;
        return isOld ? recordAt(log, memory, state) : undefined;
      });
      if (record === undefined || !hasOutlived(memory, record, nowMs)) continue;
      if (namespace === undefined || record.namespace === namespace) found.push(state);
    }
  return found;
}

/** Undefined for a damaged record, which a verification lists. */
function readable<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof CorruptRecord) return undefined;
    throw error;
  }
}
