// Options of commands that look at a store without a server.
import type { Command } from 'commander';
import { usage } from './failure.ts';

export interface StoreOptions {
  readonly store?: string | undefined;
  readonly json?: true | undefined;
}

export function withStoreOptions(command: Command): Command {
  return command
    .option('--store <URL>', 'the database, as for serve; default: GRANARY_STORE, which other users do not see')
    .option('--json', 'print JSON');
}

/** Of the key store, if there is one. */
export function keyStoreUrlOf(flag: string | undefined): string | undefined {
  const url = flag ?? process.env['GRANARY_KEY_STORE'];
  return url === '' ? undefined : url;
}

/** Throws USAGE. */
export function storeUrlOf(flag: string | undefined): string {
  const url = flag ?? process.env['GRANARY_STORE'];
  if (url === undefined || url === '') throw usage('set GRANARY_STORE, or give --store');
  return url;
}
