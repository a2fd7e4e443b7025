// The named executors of this server, to which the location of a tool may point.
import type { Services } from '../context.ts';

export function executorNames(_services: Pick<Services, 'config'>): ReadonlySet<string> {
  return new Set();
}
