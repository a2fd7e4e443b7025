import { InvalidArgumentError } from 'commander';
import { readPhrase } from '../server/operations/recall/time-phrase.ts';

/** When something ends, in seconds since 1970, from `YYYY-MM-DD` or those seconds. */
export function readExpiry(value: string): number {
  if (/^\d{9,10}$/.test(value)) return Number(value);
  const span = /^\d{4}-\d{2}-\d{2}$/.test(value) ? readPhrase(value, 0) : undefined;
  if (span?.from === undefined) throw new InvalidArgumentError('It wants YYYY-MM-DD or seconds since 1970.');
  return span.from;
}
