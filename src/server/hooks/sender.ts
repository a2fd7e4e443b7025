// Sends one event to a webhook: a signed POST whose answer decides what comes next (service contract, section 15.3).
import { createHmac } from 'node:crypto';
import { HOOK_CONNECTIONS_MAX, HOOK_RETRY_AFTER_MS_MAX, HOOK_TIMEOUT_MS } from '../../engine/base/limits.ts';
import type { AddressRule, Resolve } from '../outgoing/addresses.ts';
import { discard, failureCodeOf, GuardedAgent, refusalOf } from '../outgoing/guarded-agent.ts';

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
/** Statuses that ask for another try. */
const RETRIED = new Set([408, 425, 429]);

export interface SenderOptions {
  readonly rule: AddressRule;
  readonly nowMs: () => number;
  readonly resolve?: Resolve | undefined;
  /** Time for an answer. */
  readonly timeoutMs?: number | undefined;
}

export class Sender {
  readonly #agent: GuardedAgent;
  readonly #nowMs: () => number;
  readonly #timeoutMs: number;
  readonly #ending = new AbortController();

  constructor({ rule, nowMs, resolve, timeoutMs = HOOK_TIMEOUT_MS }: SenderOptions) {
    this.#nowMs = nowMs;
    this.#timeoutMs = timeoutMs;
    const limits = { connections: HOOK_CONNECTIONS_MAX, connectMs: timeoutMs };
    this.#agent = new GuardedAgent({ ruleOf: () => rule, resolve, ...limits });
  }

  async send(delivery: Delivery): Promise<Verdict> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    try {
      const answer = await this.#agent.request(new URL(delivery.url), {
        method: 'POST',
        headers: this.#headersOf(delivery),
        body: delivery.body,
        signal: AbortSignal.any([timeout, this.#ending.signal]),
      });
      const verdict = verdictOf(answer.statusCode, answer.headers['retry-after'], this.#nowMs());
      await discard(answer);
      return verdict;
    } catch (error) {
      if (this.#ending.signal.aborted) return { outcome: 'stopped' };
      if (timeout.aborted) return { outcome: 'retry', reason: `no answer within ${this.#timeoutMs / 1000} seconds` };
      return { outcome: 'retry', reason: reasonOf(error) };
    }
  }

  #headersOf({ kind, deliveryId, hookId, attempt, body, secret }: Delivery): Record<string, string> {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
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
    await this.#agent.close();
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

function reasonOf(error: unknown): string {
  const code = failureCodeOf(error);
  return (
    refusalOf(error)?.message ?? (code === undefined ? 'the connection failed' : `the connection failed (${code})`)
  );
}
