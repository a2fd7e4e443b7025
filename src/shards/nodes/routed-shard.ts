// One shard of a deployment with several nodes, wherever it is: in this process, on another node, or between two.
//
// While the shard moves or is opened again, its calls wait, and go to the new owner. A node that gets a call for a shard that it does not have
// says so before anything of the call runs, and the call is sent again where the shard is by then. A call whose connection broke
// may have run: it is sent again if it changes nothing, or if the shard keeps its answer under an idempotency key.
import { steadyMs, systemClock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { ELSEWHERE_PAUSE_MS, HELD_CALLS_MAX, LOST_REPEATS_MAX, SHARD_MOVES_MS } from '../../engine/base/limits.ts';
import { CALL_ROWS, type CallContext, type Method } from '../protocol.ts';
import type { RawShardCaller } from '../transport/client.ts';
import { LostCall } from './link/lost-call.ts';

export type Route =
  /** This node owns it. */
  | { readonly kind: 'here'; readonly caller: RawShardCaller }
  | { readonly kind: 'there'; readonly node: string; readonly address: string; readonly caller: RawShardCaller }
  /** It moves: calls wait. */
  | { readonly kind: 'held' }
  /** No node has it, and one may have it after so many seconds. */
  | { readonly kind: 'nowhere'; readonly retryAfterSeconds: number; readonly reason?: string | undefined };

export interface RoutedShardOptions {
  /** A call came to a node that does not have the shard: the owners have changed. */
  readonly onElsewhere?: (() => void) | undefined;
  /** How long a call waits while the shard moves. Default: SHARD_MOVES_MS. */
  readonly movesMs?: number | undefined;
}

type Act<T> = (caller: RawShardCaller) => Promise<T>;

interface Routed {
  readonly isOfOtherNode: boolean;
  readonly context: CallContext;
  /** It does no harm when it runs twice. */
  readonly mayRepeat: boolean;
}

export class RoutedShard {
  readonly shard: number;
  /** For calls of this node's callers. */
  readonly caller: RawShardCaller;
  /** For calls of other nodes: those for a shard that is not here are refused as `isElsewhere`. */
  readonly here: RawShardCaller;
  readonly #options: RoutedShardOptions;
  #route: Route = { kind: 'held' };
  #changed = Promise.withResolvers<void>();
  #waiting = 0;

  constructor(shard: number, options: RoutedShardOptions = {}) {
    this.shard = shard;
    this.#options = options;
    this.caller = this.#callerOf(false);
    this.here = this.#callerOf(true);
  }

  get route(): Route {
    return this.#route;
  }

  /** Calls that wait for the shard. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Calls that wait go where the shard is now. */
  set(route: Route): void {
    this.#route = route;
    const changed = this.#changed;
    this.#changed = Promise.withResolvers();
    changed.resolve();
  }

  #callerOf(isOfOtherNode: boolean): RawShardCaller {
    return {
      call: (method, context, input) =>
        this.#run({ isOfOtherNode, context, mayRepeat: isRepeatable(method, context) }, (caller) => {
          this.#checkPlace(method);
          return caller.call(method, context, input);
        }),
      callRaw: (codec, context, bytes, lane) => {
        // The caller may use its bytes again when this returns, and the call may be sent again.
        const kept = Buffer.from(bytes);
        // Each codec that changes something makes one call with a key (`retry: 'keyed'`).
        const mayRepeat = lane === 'read' || context.idempotency !== undefined;
        return this.#run({ isOfOtherNode, context, mayRepeat }, (caller) => caller.callRaw(codec, context, kept, lane));
      },
    };
  }

  /** A copy would be written to the disk of the other node. */
  #checkPlace(method: Method): void {
    if (method === 'backup' && this.#route.kind !== 'here')
      throw new EngineError(
        'VAL-E001',
        `shard ${this.shard} is on another node, so this node cannot copy it: back up the database of the store`,
      );
  }

  async #run<T>({ isOfOtherNode, context, mayRepeat }: Routed, act: Act<T>): Promise<T> {
    let repeats = 0;
    for (let untilMs: number | undefined; ; ) {
      const route = this.#route;
      if (route.kind === 'held') {
        untilMs ??= this.#untilMs(context);
        await this.#nextRoute(untilMs);
        continue;
      }
      if (isOfOtherNode && route.kind !== 'here')
        throw new EngineError('STO-E002', `shard ${this.shard} is not on this node`, { isElsewhere: true });
      if (route.kind === 'nowhere') throw this.#unowned(route);
      try {
        return await act(route.caller);
      } catch (error) {
        if (error instanceof LostCall && mayRepeat && repeats < LOST_REPEATS_MAX && hasTime(context)) {
          repeats += 1;
          await this.#pause(ELSEWHERE_PAUSE_MS);
          continue;
        }
        if (!(error instanceof EngineError) || !error.isElsewhere) throw error;
        untilMs ??= this.#untilMs(context);
        if (steadyMs(systemClock) >= untilMs) throw this.#moving();
        if (this.#route === route) await this.#otherRoute();
      }
    }
  }

  /** After a call that nothing ran of: the owners are looked at soon, and until then the shard may be there after all. */
  #otherRoute(): Promise<void> {
    this.#options.onElsewhere?.();
    return this.#pause(ELSEWHERE_PAUSE_MS);
  }

  #untilMs({ deadlineMs = Number.POSITIVE_INFINITY }: CallContext): number {
    return Math.min(deadlineMs, steadyMs(systemClock) + (this.#options.movesMs ?? SHARD_MOVES_MS));
  }

  /** Resolves when there is another route. Rejects with STO-E002 at `untilMs`, and with LIM-E001 when too many wait. */
  async #nextRoute(untilMs: number): Promise<void> {
    if (this.#waiting >= HELD_CALLS_MAX)
      throw new EngineError(
        'LIM-E001',
        `too many calls wait for shard ${this.shard}, which is moving to another node or being reopened`,
      );
    this.#waiting += 1;
    try {
      await this.#pause(Math.max(0, untilMs - steadyMs(systemClock)));
    } finally {
      this.#waiting -= 1;
    }
    if (this.#route.kind === 'held' && steadyMs(systemClock) >= untilMs) throw this.#moving();
  }

  /** Resolves after so long, and at once when the route changes. */
  async #pause(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([late, this.#changed.promise]);
    clearTimeout(timer);
  }

  #unowned({ retryAfterSeconds, reason }: Extract<Route, { kind: 'nowhere' }>): EngineError {
    const text =
      reason === undefined
        ? `no node has shard ${this.shard} at the moment`
        : `no node can open shard ${this.shard}: ${reason}`;
    return new EngineError('STO-E002', text, { retryAfterSeconds });
  }

  #moving(): EngineError {
    return new EngineError('STO-E002', `shard ${this.shard} is moving to another node or being reopened: try again`, {
      retryAfterSeconds: 1,
    });
  }
}

function isRepeatable(method: Method, { idempotency }: CallContext): boolean {
  const row = CALL_ROWS[method];
  if (row.kind === 'read' || (row.kind === 'long' && row.changes === 'nothing')) return true;
  return 'retry' in row && row.retry === 'keyed' && idempotency !== undefined;
}

function hasTime({ deadlineMs = Number.POSITIVE_INFINITY }: CallContext): boolean {
  return steadyMs(systemClock) < deadlineMs;
}
