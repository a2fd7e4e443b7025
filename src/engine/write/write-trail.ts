// Writes what reads left for the trail.
import type { WriteQueue } from './queue.ts';

/**
 * Resolves when all that reads have left until now is durable. What they leave meanwhile is not waited for: under load there would
 * be no end of it. Rejects with the log's EngineError.
 */
export async function writeTrail(queue: Pick<WriteQueue, 'trail' | 'commitState'>): Promise<void> {
  for (let { groups } = queue.trail; groups > 0; groups--) await queue.commitState([]);
}
