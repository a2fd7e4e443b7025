// Removes access tuples together with what they name: a person or a scope that is erased.

import type { Sequence } from '../log/log.ts';
import type { Memory } from '../store/memory.ts';
import { sequenceOf } from '../store/rules.ts';
import { bothStates, tupleCount, tupleCountState } from '../store/tuples.ts';
import { countValue } from './count-value.ts';
import type { Group } from './group.ts';

/**
 * Removes every tuple whose state entry begins with `prefix`, and its record. Only for settled writes, which no grant
 * precedes in their group. Returns the number of tuples.
 */
export function dropTuples(group: Group, memory: Memory, ...prefixes: readonly string[]): number {
  const { log } = group.store;
  const sequences: Sequence[] = [];
  for (const prefix of prefixes)
    for (const [name, value] of log.scanState(prefix)) {
      const { byObject, bySubject } = bothStates(name);
      group.setState(byObject, null);
      group.setState(bySubject, null);
      sequences.push(sequenceOf(value));
    }
  if (sequences.length === 0) return 0;
  group.removeValues(sequences);
  group.setState(tupleCountState(memory.number), countValue(tupleCount(log, memory.number) - sequences.length));
  group.onPublish(() => memory.governed.setAccess());
  return sequences.length;
}
