// Reads a request with one plain grain (engine/grain/plain) without a message object and without parsed JSON. It only ever
// accepts: whatever it does not expect, a fault included, is left to the general path.
import { readAlone } from '../../../engine/grain/plain/plain-block.ts';
import type { PlainItem } from '../../../engine/grain/plain/plain-item.ts';
import { readPlainMessage } from './plain-batch.ts';
import { readPlainElement } from './plain-body.ts';

/** The grain of the message of an Add; undefined for any other message. */
export function readPlainAdd(request: Uint8Array): PlainItem | undefined {
  return readAlone(request, readPlainMessage);
}

/** The grain of a body over HTTP, flat or nested; undefined for any other body. */
export function readPlainAddBody(body: Uint8Array): PlainItem | undefined {
  return readAlone(body, readPlainElement);
}
