// The headers of a request, checked as RFC 9113, sections 8.2 and 8.3 ask.
import { firstHeader, joinedHeader, onlyHeader } from '../../http/header-list.ts';
import type { CallHead } from '../call-stream.ts';

const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const NOT_IN_VALUE = /[\0\r\n]|^[ \t]|[ \t]$/;
/** Section 8.2.2. */
const OF_CONNECTIONS = new Set(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade']);
/** Section 8.3.1. */
const PSEUDO = new Set([':method', ':scheme', ':authority', ':path']);
const DIGITS = /^\d{1,15}$/;

export class RequestHead implements CallHead {
  /** The same headers may come again, as the same head. */
  isKept = false;
  /** Names and values in turn, as sent. */
  readonly list: readonly string[];
  /** Undefined when the request does not say. */
  readonly contentLength: number | undefined;

  constructor(list: readonly string[], contentLength: number | undefined) {
    this.list = list;
    this.contentLength = contentLength;
  }

  get identity(): object | undefined {
    return this.isKept ? this : undefined;
  }

  first(name: string): string | undefined {
    return firstHeader(this.list, name);
  }

  only(name: string): string | undefined {
    return onlyHeader(this.list, name);
  }

  joined(name: string): string | undefined {
    return joinedHeader(this.list, name);
  }
}

/** Undefined for a malformed request (section 8.1.1). */
export function requestHeadOf(list: readonly string[]): RequestHead | undefined {
  const pseudo = pseudoHeadersOf(list);
  if (pseudo === undefined || !areFields(list, 2 * pseudo.size)) return undefined;
  const isConnect = pseudo.get(':method') === 'CONNECT';
  const path = pseudo.get(':path');
  // CONNECT has neither scheme nor path (section 8.5).
  if (!pseudo.has(':method') || pseudo.has(':scheme') === isConnect) return undefined;
  if (isConnect ? path !== undefined : path === undefined || !/^[/*]/.test(path)) return undefined;
  const length = firstHeader(list, 'content-length');
  if (length === undefined) return new RequestHead(list, undefined);
  return DIGITS.test(length) ? new RequestHead(list, Number(length)) : undefined;
}

/** True for headers that may follow a request's data: no pseudo-headers (section 8.1). */
export function areTrailers(list: readonly string[]): boolean {
  return areFields(list, 0);
}

/** Those at the start; undefined when one repeats, is unknown or has an invalid value. */
function pseudoHeadersOf(list: readonly string[]): Map<string, string> | undefined {
  const found = new Map<string, string>();
  for (let at = 0; at < list.length && list[at]!.charCodeAt(0) === 0x3a; at += 2) {
    const [name, value] = [list[at]!, list[at + 1]!];
    if (!PSEUDO.has(name) || found.has(name) || NOT_IN_VALUE.test(value)) return undefined;
    found.set(name, value);
  }
  return found;
}

/** Section 8.2. A colon is not part of a name. */
function areFields(list: readonly string[], from: number): boolean {
  for (let at = from; at < list.length; at += 2) {
    const [name, value] = [list[at]!, list[at + 1]!];
    if (!NAME.test(name) || NOT_IN_VALUE.test(value) || OF_CONNECTIONS.has(name)) return false;
    if (name === 'te' && value !== 'trailers') return false;
  }
  return true;
}
