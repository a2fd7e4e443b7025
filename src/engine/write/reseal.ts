// Plans sealing grains anew in their place, after a rotation of their memory's blob key.
import { seal } from '../crypto/envelope.ts';
import { EngineError } from '../errors.ts';
import { CorruptRecord, type Sequence } from '../log/log.ts';
import { decodeRecord } from '../record/record.ts';
import type { WritePlan } from './queue.ts';

/** Grains that lie under older blob keys of the memory are sealed under its current one, in their place. */
export const resealPlan: WritePlan<
  { readonly sequences: readonly Sequence[]; readonly keys: ReadonlySet<number> },
  { readonly resealed: number; readonly left: number }
> = {
  // A removal of this very group would be undone by the record that is put back.
  settled: true,
  plan: (group, memory, _context, { sequences, keys }) => {
    if (memory === undefined) throw new EngineError('MEM-E003');
    const { store } = group;
    let resealed = 0;
    let left = 0;
    for (const sequence of sequences) {
      try {
        const bytes = store.log.read(sequence);
        const record = bytes === undefined ? undefined : decodeRecord(bytes);
        if (record?.kind !== 'grain' || !keys.has(record.key)) continue;
        // Of an erased scope, in an older copy of the data: nobody will ever need its other key.
        if (store.isErased(record)) continue;
        const blob = store.openBlob(memory, record);
        const { blob: key } = memory.keyIds;
        const sealed = seal(memory.grainKey(key, record.scopeKey), blob, Buffer.from(record.address, 'hex'));
        group.replace(memory, sequence, { ...record, key, sealed });
        resealed += 1;
      } catch (error) {
        if (!(error instanceof EngineError || error instanceof CorruptRecord)) throw error;
        // Not readable now; whoever repairs it needs its key.
        left += 1;
      }
    }
    return { resealed, left };
  },
};
