// The failure of a part of a query as data: of a BATCH entry, or of a source that is left out.
import { EngineError } from '../../base/errors.ts';
import { CalError } from '../errors.ts';

/** Converts failures that the query caused. Any other failure ends the query. */
export function asCalError(error: unknown): CalError {
  if (error instanceof CalError) return error;
  // A deadline missed in a shard or queue counts as the query's.
  if (error instanceof EngineError && error.code === 'SYS-E005')
    return new CalError('CAL-E031', 'the query took too long');
  throw error;
}
