// Checks the URL of a new webhook.
import { EngineError } from '../../engine/base/errors.ts';
import { AddressRefused, type AddressRule, checkHost, literalAddress, type Resolve } from '../outgoing/addresses.ts';

/** HOK-E001 for a URL that no event may be sent to. Every connection checks its address again. */
export async function checkHookUrl(text: string, rule: AddressRule, resolve?: Resolve): Promise<void> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw refused('`url` must be an http or https URL');
  // Lists of hooks show the URL.
  if (url.username !== '' || url.password !== '')
    throw refused('`url` must not hold credentials: have deliveries signed instead');
  if (url.hash !== '') throw refused('`url` must not have a fragment');
  try {
    await checkHost(url, rule, resolve);
  } catch (error) {
    if (error instanceof AddressRefused && literalAddress(url) !== undefined) throw refused(error.message);
    // One answer for both, or a caller could ask which names the operator's network has.
    throw refused(
      `${url.hostname} cannot be resolved, or has an address that ${rule.what ?? 'webhooks'} may not reach`,
    );
  }
}

function refused(message: string): EngineError {
  return new EngineError('HOK-E001', message, { details: [{ field: 'url', issue: message }] });
}
