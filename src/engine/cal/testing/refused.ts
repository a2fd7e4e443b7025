// Reads a query and returns its refusal, for tests.
import { CalError } from '../errors.ts';
import { readQuery } from '../query.ts';

/**
 * The error that refuses `source`, by default of a strict server; undefined: it is read. Anything else that is thrown
 * goes on.
 */
export function refusal(source: string, isStrict = true): CalError | undefined {
  try {
    readQuery(source, isStrict);
    return undefined;
  } catch (error) {
    if (error instanceof CalError) return error;
    throw error;
  }
}

/** The code that refuses `source`; `read` if it is accepted. */
export function outcome(source: string): string {
  return refusal(source)?.code ?? 'read';
}
