// Whether a memory's texts, or the questions asked of it, may be sent to the embedding service. This is the one place that
// says so: whoever hands texts to that embedder asks here first.

import { type Config, isLoopback } from '../config.ts';
import type { MemoryRecord } from '../control/records.ts';

/**
 * Its texts may leave when it chose the service itself, or chose nothing and the deployment's own embedder is the service.
 * So not those of a memory that left the service for another embedder, though its old vectors still answer. A service on
 * this machine is no outside.
 */
export function mayLeave(
  { vectorBackend = '' }: Pick<MemoryRecord, 'vectorBackend'>,
  { embedder, embeddingUrl }: Pick<Config, 'embedder' | 'embeddingUrl'>,
): boolean {
  if (embeddingUrl !== undefined && URL.canParse(embeddingUrl) && isLoopback(new URL(embeddingUrl).hostname))
    return true;
  return vectorBackend === 'remote' || (vectorBackend === '' && embedder === 'remote');
}
