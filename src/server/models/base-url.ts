// Checks the address of a new provider.
import { EngineError } from '../../engine/base/errors.ts';
import { AddressRefused } from '../outgoing/addresses.ts';
import type { Outgoing } from './outgoing.ts';
import { completeUrl } from './roles.ts';

/** A resolver that does not answer must not hold up the request. */
const RESOLVE_MS = 2_000;

/**
 * The address in the form that is kept. VAL-E001 for one that no request may be sent to. A name that cannot be resolved now
 * is allowed, because every connection checks its address.
 */
export async function checkedBaseUrl(text: string, outgoing: Pick<Outgoing, 'check'>): Promise<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw refused('`base_url` must be an http or https URL');
  // Lists of providers show the URL.
  if (url.username !== '' || url.password !== '') throw refused('`base_url` must not hold credentials: use `api_key`');
  if (url.search !== '' || url.hash !== '') throw refused('`base_url` must have neither a query nor a fragment');
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((done) => {
    timer = setTimeout(done, RESOLVE_MS);
  });
  try {
    await Promise.race([outgoing.check(url), late]);
  } catch (error) {
    if (error instanceof AddressRefused) throw refused(`${error.message}: --model-hosts allows it`);
  } finally {
    clearTimeout(timer);
  }
  return completeUrl(text);
}

function refused(message: string): EngineError {
  return new EngineError('VAL-E001', message, { details: [{ field: 'base_url', issue: message }] });
}
