// Where a chat turn happens: its thread, its person and namespace, and the keys that make a repeated request harmless.
import { createHash } from 'node:crypto';
import type { Clock } from '../../engine/base/clock.ts';
import { stringifyJson } from '../../engine/grain/api/json.ts';
import type { CallExtras, Context } from '../context.ts';
import { randomId } from '../control/ids.ts';

type Asking = Pick<Context, 'idempotency'> & { readonly services: { readonly clock: Clock } };

export class Place {
  readonly threadId: string | undefined;
  readonly userId: string | undefined;
  readonly namespace: string | undefined;
  /** Names the turn in its events; a repeated request has the same. */
  readonly turnId: string;
  readonly deadlineMs: number;
  readonly #key: Context['idempotency'];
  readonly #clock: Clock;
  readonly #uses = new Map<string, number>();

  constructor(
    { idempotency, services }: Asking,
    place: Pick<Place, 'threadId' | 'userId' | 'namespace' | 'deadlineMs'>,
  ) {
    this.threadId = place.threadId;
    this.userId = place.userId;
    this.namespace = place.namespace;
    this.deadlineMs = place.deadlineMs;
    this.#key = idempotency;
    this.#clock = services.clock;
    this.turnId = idempotency === undefined ? randomId('turn') : `turn_${digest(idempotency.key).slice(0, 24)}`;
  }

  /** Extras of a call that changes something, which takes effect once however often the request is repeated. */
  keyed(what: string): CallExtras {
    const { deadlineMs } = this;
    if (this.#key === undefined) return { deadlineMs };
    const { key, bodyHash } = this.#key;
    return { deadlineMs, idempotency: { key: digest(`${key} ${what}`), bodyHash } };
  }

  /**
   * The same for a call of a tool. A model that is asked again may call other tools in another order, so the key is that of
   * tool and arguments: the same call takes effect once, another one by itself.
   */
  keyedTool(name: string, args: unknown): CallExtras {
    const what = `tool ${name} ${stringifyJson(args)}`;
    const use = this.#uses.get(what) ?? 0;
    this.#uses.set(what, use + 1);
    return this.keyed(`${what} ${use}`);
  }

  /** Resolves in a later millisecond than this one: messages are ordered by their time. */
  async after(createdAtMs: number): Promise<void> {
    for (let tries = 0; tries < AFTER_TRIES && this.#clock.nowMs() <= createdAtMs; tries++)
      await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** A clock may have been set back. */
const AFTER_TRIES = 50;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
