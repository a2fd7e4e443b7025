// Writes the pending entries of the read trail.
import type { WriteQueue } from './queue.ts';

/**
 * Resolves when all entries of reads up to now are durable. It does not wait for later entries, because under load
 * there would be no end. Rejects with the log's EngineError.
 */
export async function writeTrail(queue: Pick<WriteQueue, 'trail' | 'commitState'>): Promise<void> {
  for (let { groups } = queue.trail; groups > 0; groups--) await queue.commitState([]);
}
