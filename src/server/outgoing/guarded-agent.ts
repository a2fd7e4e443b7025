// The one way out to a URL that a client or the operator gave: webhooks, tools at URLs and providers of models. Each
// address is checked where the socket takes it, redirects are not followed, and errors are read so that no message names
// an address.
import type { Agent, Dispatcher } from 'undici';
import { OUTGOING_DISCARDED_BYTES_MAX, OUTGOING_HEADER_BYTES_MAX } from '../../engine/base/limits.ts';
import { onDemand } from '../../engine/base/on-demand.ts';
import { VERSION } from '../version.ts';
import {
  AddressRefused,
  type AddressRule,
  checkHost,
  guardedLookup,
  literalAddress,
  mayReach,
  type Resolve,
} from './addresses.ts';

/** Loaded with the first request: most deployments make none. */
const undici = onDemand<typeof import('undici')>(import.meta.url, 'undici');

/** Time after which a connection that nobody uses is closed. */
const KEEP_ALIVE_MS = 30_000;

export interface GuardedAgentOptions {
  /** The addresses that a host, a name or an address without brackets, may have. */
  readonly ruleOf: (host: string) => AddressRule;
  readonly resolve?: Resolve | undefined;
  /** Connections to one host. */
  readonly connections: number;
  /** Time for a connection to be made. */
  readonly connectMs: number;
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Time to the answer's headers, and between two parts of its body; default: undici's five minutes. */
  readonly answerMs?: number | undefined;
}

export type OutgoingAnswer = Dispatcher.ResponseData;

export class GuardedAgent {
  readonly #options: GuardedAgentOptions;
  #agent: Agent | undefined;

  constructor(options: GuardedAgentOptions) {
    this.#options = options;
  }

  /** Throws AddressRefused for a host that no request may be sent to, or the resolver's error. */
  async check(url: URL): Promise<void> {
    await checkHost(url, this.#options.ruleOf(literalAddress(url) ?? url.hostname), this.#options.resolve);
  }

  /**
   * The answer, whatever its status. Its body must be read, or discarded with `discard`. Rejects with what `refusalOf`
   * and `failureCodeOf` read, or with the signal's reason.
   */
  async request(url: URL, { method, headers, body, signal, answerMs }: OutgoingRequest): Promise<OutgoingAnswer> {
    const literal = literalAddress(url);
    if (literal !== undefined) {
      // A socket to an address makes no lookup.
      const rule = this.#options.ruleOf(literal);
      if (!mayReach(literal, rule)) throw new AddressRefused(url.hostname, rule.what);
    }
    return undici().request(url, {
      dispatcher: this.#connections(),
      method,
      headers: { ...headers, 'user-agent': `Granary/${VERSION}` },
      body: body ?? null,
      signal: signal ?? null,
      headersTimeout: answerMs ?? null,
      bodyTimeout: answerMs ?? null,
    });
  }

  #connections(): Agent {
    const { ruleOf, resolve, connections, connectMs } = this.#options;
    this.#agent ??= new (undici().Agent)({
      connect: {
        lookup: (host, options, answer) =>
          guardedLookup(ruleOf(host), resolve)(host, options as { all?: boolean }, answer as never),
        timeout: connectMs,
      },
      connections,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: OUTGOING_HEADER_BYTES_MAX,
    });
    return this.#agent;
  }

  /** Aborts what is under way. */
  async close(): Promise<void> {
    await this.#agent?.destroy();
  }
}

/** Reads the rest of an answer that nobody wants, up to a bound, so that its connection can be used again. */
export async function discard({ body }: OutgoingAnswer): Promise<void> {
  await body.dump({ limit: OUTGOING_DISCARDED_BYTES_MAX }).catch(() => undefined);
}

/** The refusal of an address among the reasons of a failed request. Its message names the host, never the address. */
export function refusalOf(error: unknown): AddressRefused | undefined {
  return reasonsOf(error).find((reason) => reason instanceof AddressRefused);
}

/** The code of a failed request, such as ECONNREFUSED. Messages of sockets name addresses; codes do not. */
export function failureCodeOf(error: unknown): string | undefined {
  const codes = reasonsOf(error).map(({ code }) => code);
  return codes.find((code): code is string => typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code));
}

/** The error and the cause of it: fetch wraps what the connection failed with. */
function reasonsOf(error: unknown): { readonly code?: unknown }[] {
  if (typeof error !== 'object' || error === null) return [];
  const { cause } = error as { readonly cause?: unknown }; // it may be absent
  return typeof cause === 'object' && cause !== null ? [error, cause] : [error];
}
