// A slip of a query: the text that was refused, and where.
import type { CalError } from '../errors.ts';

/** Where a slip is told, in a text. */
export interface Slip {
  readonly text: string;
  readonly error: CalError;
  readonly start: number;
  readonly end: number;
}
