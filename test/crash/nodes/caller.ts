// A caller that waits: it sends a request again, under the same idempotency key, to any node, until it is answered.
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../support/random.ts';

/** Where callers may send a request at the moment. */
export interface Service {
  readonly key: string;
  /** Of the processes that run, `http://host:port`. */
  readonly addresses: readonly string[];
}

const ATTEMPT_MS = 6_000;
const AGAIN_MS = 60;
const AVOIDED_MS = 3_000;

// biome-ignore lint/suspicious/noExplicitAny: members of an answer are read as the contract defines them
type Body = any;

export interface Answered {
  readonly status: number;
  /** Of an error. */
  readonly code: string | undefined;
  readonly body: Body;
  readonly calledMs: number;
  readonly answeredMs: number;
  /** True when an earlier attempt had no answer that says whether it took effect. */
  readonly isRepeated: boolean;
}

/** The codes with which an interrupted request may be answered. Any other one is a fault. */
const MAY_FAIL = new Set(['STO-E001', 'STO-E002', 'SYS-E005', 'LIM-E001']);

export class Callers {
  /** How often each code came, and broken connections. */
  readonly failures = new Map<string, number>();
  readonly problems: string[] = [];
  /** The messages of these codes, each with the number of times that it came. */
  readonly said = new Map<string, number>();
  readonly #service: Service;
  /** By address: until when callers prefer another node, because it did not answer. */
  readonly #avoidedMs = new Map<string, number>();
  readonly #random: Random;
  #isOver = false;
  #keys = 0;
  readonly #run = Math.floor(Date.now()).toString(36);

  constructor(service: Service, random: Random) {
    this.#service = service;
    this.#random = random;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Requests that have no answer yet are given up. */
  end(): void {
    this.#isOver = true;
  }

  /** Undefined when it was given up. */
  async ask(verb: string, path: string, json?: unknown): Promise<Answered | undefined> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#service.key}` };
    if (json !== undefined) headers['content-type'] = 'application/json';
    if (verb !== 'GET') headers['idempotency-key'] = `${this.#run}-${++this.#keys}`;
    const request = { method: verb, headers, ...(json === undefined ? {} : { body: JSON.stringify(json) }) };
    const calledMs = performance.now();
    for (let isRepeated = false; !this.#isOver; isRepeated = true) {
      const answer = await this.#attempt(path, request);
      if (answer !== undefined) return { ...answer, calledMs, answeredMs: performance.now(), isRepeated };
      await pause(AGAIN_MS);
    }
    return undefined;
  }

  /** Undefined without an answer that is one. */
  async #attempt(path: string, request: RequestInit): Promise<Pick<Answered, 'status' | 'code' | 'body'> | undefined> {
    const { addresses } = this.#service;
    const nowMs = performance.now();
    const quick = addresses.filter((address) => (this.#avoidedMs.get(address) ?? 0) <= nowMs);
    const http = this.#random.pickAny(quick) ?? this.#random.pickAny(addresses);
    if (http === undefined) return undefined;
    try {
      const response = await fetch(`${http}/api${path}`, { ...request, signal: AbortSignal.timeout(ATTEMPT_MS) });
      const text = await response.text();
      const body = text === '' ? undefined : JSON.parse(text);
      const code: string | undefined = body?.error?.code;
      if (response.status < 500 && response.status !== 429) return { status: response.status, code, body };
      this.#count(code ?? String(response.status));
      const message = String(body?.error?.message ?? text);
      this.said.set(message, (this.said.get(message) ?? 0) + 1);
      if (code === undefined || !MAY_FAIL.has(code))
        this.problems.push(`${path} was answered ${response.status} ${text}`);
      if (code === 'STO-E002' && !/^[1-9]\d*$/.test(response.headers.get('retry-after') ?? ''))
        this.problems.push(`STO-E002 without Retry-After: ${text}`);
    } catch (error) {
      if (error instanceof SyntaxError) this.problems.push(`${path} was answered with a text that is no JSON`);
      const isSilent = error instanceof Error && error.name === 'TimeoutError';
      // As a load balancer does. The node is tried again soon.
      if (isSilent) this.#avoidedMs.set(http, performance.now() + AVOIDED_MS);
      this.#count(isSilent ? 'no answer' : 'broken connection');
    }
    return undefined;
  }

  #count(kind: string): void {
    this.failures.set(kind, (this.failures.get(kind) ?? 0) + 1);
  }
}
