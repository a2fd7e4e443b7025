// Plans the rewriting of records in place: grains after a rotation of their memory's blob key, and the plain hashes in
// grains and version links of older builds.

import { EngineError } from '../base/errors.ts';
import { seal } from '../crypto/envelope.ts';
import { CorruptRecord, type Sequence } from '../log/log.ts';
import { isPlainHash, NO_NAME } from '../record/grain-name.ts';
import { type GrainRecord, isPlainRecord, type StatusRecord } from '../record/record.ts';
import { decodeRecord } from '../record/record-codec.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import type { WritePlan } from './job.ts';

/** Seals grains of older blob keys under the memory's current one, and enciphers plain hashes. */
export const resealPlan: WritePlan<
  { readonly sequences: readonly Sequence[]; readonly keys: ReadonlySet<number> },
  { readonly resealed: number; readonly left: number }
> = {
  // A removal in the same group would be undone by the rewritten record.
  settled: true,
  plan: (group, memory, _context, { sequences, keys }) => {
    if (memory === undefined) throw new EngineError('MEM-E003');
    const { store } = group;
    let resealed = 0;
    let left = 0;
    const erased: Sequence[] = [];
    for (const sequence of sequences) {
      try {
        const bytes = store.log.read(sequence);
        if (bytes === undefined) continue;
        const record = decodeRecord(bytes);
        // Occurs in an older copy of the data. Without its key the hash cannot be enciphered, and with the hash the
        // text could be guessed.
        if (record.kind === 'grain' && isPlainRecord(bytes) && store.isErased(record)) {
          erased.push(sequence);
          continue;
        }
        const anew =
          record.kind === 'status'
            ? linkAnew(store, memory, record)
            : record.kind === 'grain' && (keys.has(record.key) || isPlainRecord(bytes))
              ? grainAnew(store, memory, record, keys)
              : undefined;
        if (anew === undefined) continue;
        group.replace(memory, sequence, anew);
        resealed += 1;
      } catch (error) {
        if (!(error instanceof EngineError || error instanceof CorruptRecord)) throw error;
        // Unreadable at the moment. A repair would need its key.
        left += 1;
      }
    }
    if (erased.length > 0) group.remove(memory, erased, 'erased');
    return { resealed, left };
  },
};

/** Undefined for a grain of an erased scope in an older copy of the data: nobody will ever need its other key. */
function grainAnew(
  store: Store,
  memory: Memory,
  record: GrainRecord,
  old: ReadonlySet<number>,
): GrainRecord | undefined {
  if (store.isErased(record)) return undefined;
  const { blob, address } = store.openRecord(memory, record);
  const key = old.has(record.key) ? memory.keyIds.blob : record.key;
  const userKey = store.keys.kind(key) === 'user' ? key : 0;
  const bound = memory.trail.cipher({ user: userKey, scope: record.scopeKey }).encipher(address);
  return { ...record, key, userKey, bound, sealed: seal(memory.grainKey(key, record.scopeKey), blob, bound) };
}

/** A version link that names the new version by its hash. If that version is gone, so is its name. */
function linkAnew(store: Store, memory: Memory, record: StatusRecord): StatusRecord | undefined {
  if (!isPlainHash(record.newName)) return undefined;
  return { ...record, newName: store.nameOfHash(memory, record.newName) ?? NO_NAME };
}
