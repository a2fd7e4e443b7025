// A failure of a part of a query as data: in a slot of a BATCH, or of a source that is left out.
import { EngineError } from '../../base/errors.ts';
import { CalError } from '../errors.ts';

/** What of a failure the caller may see as this query's own; anything else ends the query. */
export function asCalError(error: unknown): CalError {
  if (error instanceof CalError) return error;
  // Deadlines of shards and of queues are the query's.
  if (error instanceof EngineError && error.code === 'SYS-E005')
    return new CalError('CAL-E031', 'the query took too long');
  throw error;
}
