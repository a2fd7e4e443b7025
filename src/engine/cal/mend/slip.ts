// A slip in a query: a refused text and the position of its error.
import type { CalError } from '../errors.ts';

export interface Slip {
  readonly text: string;
  readonly error: CalError;
  readonly start: number;
  readonly end: number;
}
