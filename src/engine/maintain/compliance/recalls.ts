// The records of recalls, by the calls that everybody reads them with.
import type { CallContext } from '../../calls.ts';
import type { Memory } from '../../store/memory.ts';
import type { RecallEvidence } from './evidence.ts';
import type { ComplianceServices } from './gather.ts';

/** Null where this build keeps no records. */
export async function recallEvidence(
  _services: ComplianceServices,
  _memory: Memory,
  _context: CallContext,
): Promise<RecallEvidence | null> {
  return null;
}
