import { InvalidArgumentError } from 'commander';
import { readPhrase } from '../server/operations/recall/time-phrase.ts';

/** Reads an expiry given as `YYYY-MM-DD` or as seconds since 1970. Returns seconds since 1970. */
export function readExpiry(value: string): number {
  if (/^\d{9,10}$/.test(value)) return Number(value);
  const span = /^\d{4}-\d{2}-\d{2}$/.test(value) ? readPhrase(value, 0) : undefined;
  if (span?.from === undefined) throw new InvalidArgumentError('Use YYYY-MM-DD or seconds since 1970.');
  return span.from;
}
