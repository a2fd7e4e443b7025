// Sends one event to a webhook: a signed POST whose answer decides what comes next (service contract, section 15.3).
import { createHmac } from 'node:crypto';
import type { Agent } from 'undici';
import {
  HOOK_ANSWER_BYTES_MAX,
  HOOK_CONNECTIONS_MAX,
  HOOK_RETRY_AFTER_MS_MAX,
  HOOK_TIMEOUT_MS,
} from '../../engine/base/limits.ts';
import { onDemand } from '../../engine/base/on-demand.ts';
import { VERSION } from '../version.ts';
import {
  AddressRefused,
  type AddressRule,
  guardedLookup,
  literalAddress,
  mayReach,
  type Resolve,
} from './addresses.ts';

/** Loaded with the first delivery: most deployments have no webhooks. */
const undici = onDemand<typeof import('undici')>(import.meta.url, 'undici');

export interface Delivery {
  readonly url: string;
  readonly secret?: string | undefined;
  readonly memoryId: string;
  readonly hookId: string;
  /** Stable over the tries of one event. */
  readonly deliveryId: string;
  readonly kind: string;
  /** From 1. */
  readonly attempt: number;
  readonly body: string;
}

/**
 * `delivered`: a 2xx. `retry`: it may succeed later; `afterMs` is the receiver's own wish. `refused`: it never will.
 * `gone`: the receiver wants no more. `stopped`: this server is shutting down.
 */
export type Verdict =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'retry'; readonly reason: string; readonly afterMs?: number | undefined }
  | { readonly outcome: 'refused' | 'gone'; readonly reason: string }
  | { readonly outcome: 'stopped' };

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** Time after which a connection that nobody uses is closed. */
const KEEP_ALIVE_MS = 30_000;
/** Statuses that ask for another try. */
const RETRIED = new Set([408, 425, 429]);

export class Sender {
  readonly #rule: AddressRule;
  readonly #resolve: Resolve | undefined;
  #agent: Agent | undefined;
  readonly #nowMs: () => number;
  readonly #ending = new AbortController();

  constructor(parts: { rule: AddressRule; nowMs: () => number; resolve?: Resolve | undefined }) {
    this.#rule = parts.rule;
    this.#nowMs = parts.nowMs;
    this.#resolve = parts.resolve;
  }

  #connections(): Agent {
    this.#agent ??= new (undici().Agent)({
      connect: { lookup: guardedLookup(this.#rule, this.#resolve), timeout: HOOK_TIMEOUT_MS },
      connections: HOOK_CONNECTIONS_MAX,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: HOOK_ANSWER_BYTES_MAX,
    });
    return this.#agent;
  }

  async send(delivery: Delivery): Promise<Verdict> {
    const url = new URL(delivery.url);
    const literal = literalAddress(url);
    // A socket to an address makes no lookup.
    if (literal !== undefined && !mayReach(literal, this.#rule))
      return { outcome: 'retry', reason: new AddressRefused(url.hostname).message };
    const timeout = AbortSignal.timeout(HOOK_TIMEOUT_MS);
    try {
      const answer = await undici().request(url, {
        dispatcher: this.#connections(),
        method: 'POST',
        headers: this.#headersOf(delivery),
        body: delivery.body,
        signal: AbortSignal.any([timeout, this.#ending.signal]),
      });
      const verdict = verdictOf(answer.statusCode, answer.headers['retry-after'], this.#nowMs());
      // The status has decided. What follows is read up to a bound, so that the connection can be used again.
      await answer.body.dump({ limit: HOOK_ANSWER_BYTES_MAX }).catch(() => undefined);
      return verdict;
    } catch (error) {
      if (this.#ending.signal.aborted) return { outcome: 'stopped' };
      if (timeout.aborted) return { outcome: 'retry', reason: `no answer within ${HOOK_TIMEOUT_MS / 1000} seconds` };
      return { outcome: 'retry', reason: reasonOf(error) };
    }
  }

  #headersOf({ kind, deliveryId, hookId, attempt, body, secret }: Delivery): Record<string, string> {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'user-agent': `Granary/${VERSION}`,
      'x-memory-event': kind,
      'x-memory-delivery': deliveryId,
      'x-memory-hook': hookId,
      'x-memory-attempt': String(attempt),
    };
    if (secret !== undefined) headers['x-memory-signature'] = signature(secret, Math.floor(this.#nowMs() / 1000), body);
    return headers;
  }

  /** Aborts what is being sent. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#agent?.destroy();
  }
}

/** `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body" under the secret>`. */
export function signature(secret: string, seconds: number, body: string): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

export function verdictOf(status: number, retryAfter: string | string[] | undefined, nowMs: number): Verdict {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  const reason = `it answered ${status}`;
  if (status === 410) return { outcome: 'gone', reason };
  if (status >= 500 || RETRIED.has(status))
    return { outcome: 'retry', reason, afterMs: status === 429 ? retryAfterMs(retryAfter, nowMs) : undefined };
  return { outcome: 'refused', reason };
}

/** Seconds or an HTTP date (RFC 9110, section 10.2.3), at most an hour; undefined for anything else. */
export function retryAfterMs(value: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const ms = /^\d{1,9}$/.test(text)
    ? Number(text) * 1000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - nowMs
      : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), HOOK_RETRY_AFTER_MS_MAX);
}

/** A code where there is one: messages of sockets name addresses. */
function reasonOf(error: unknown): string {
  if (error instanceof AddressRefused) return error.message;
  if (error instanceof undici().errors.UndiciError) return `the connection failed (${error.code})`;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }; // either may be absent
  if (cause instanceof AddressRefused) return cause.message;
  return typeof code === 'string' ? `the connection failed (${code})` : 'the connection failed';
}
