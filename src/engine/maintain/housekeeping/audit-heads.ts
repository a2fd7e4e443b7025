// Heads of audit chains, noted in the log's state with every seal: a chain that was cut short, or rewritten from somewhere
// on, checks by itself. Sealed under a key of the memory, so that nobody without it can note another end.
//
//   audit-head/M    sealed: seq u32 | hash 32

import { EngineError } from '../../base/errors.ts';
import { AUDIT_HEADS_NOTED_MAX } from '../../base/limits.ts';
import type { AuditHead } from '../../govern/trail/audit.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';

const PURPOSE = 'audit-head';

export function auditHeadState(memory: number): string {
  return `audit-head/${memory}`;
}

/** State entries with the heads of chains that grew, as many as a slice has time for. */
export function headsToNote(store: Store): (readonly [string, Uint8Array])[] {
  const entries: (readonly [string, Uint8Array])[] = [];
  for (const number of store.auditHeadsUnnoted) {
    if (entries.length >= AUDIT_HEADS_NOTED_MAX) break;
    store.auditHeadsUnnoted.delete(number);
    const entry = headEntry(store, number);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** Undefined for a memory that is gone or does not open. */
function headEntry(store: Store, number: number): readonly [string, Uint8Array] | undefined {
  try {
    if (!store.holds(number) || store.isDamaged(number)) return undefined;
    const { seq, hash } = store.auditHead(number);
    const plain = Buffer.alloc(36);
    plain.writeUInt32BE(seq);
    plain.write(hash, 4, 'hex');
    return [auditHeadState(number), store.memory(number).sealSmall(plain, PURPOSE)];
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

/** The head as last noted; undefined before the first seal. */
export function notedHead(store: Store, memory: Memory): AuditHead | undefined {
  const sealed = store.log.getState(auditHeadState(memory.number));
  if (sealed === undefined) return undefined;
  const plain = memory.openSmall(Buffer.from(sealed), PURPOSE);
  return { seq: plain.readUInt32BE(0), hash: plain.toString('hex', 4, 36) };
}
