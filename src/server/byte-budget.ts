// A shared limit on bytes: requests while they arrive and are processed, answers while clients read them. Each holder
// has a share. When all shares exceed the budget, the slowest holders, or the largest, are dropped until there is some
// headroom, so clients at a fair pace are not affected.
import { EngineError } from '../engine/base/errors.ts';
import { ANSWER_SPARED_MS } from '../engine/base/limits.ts';

/** Share of the budget that may stay in use after a drop. The headroom makes drops rare. */
const RELIEVED_PART = 0.9;

export interface ByteBudgetOptions {
  readonly bytesMax: number;
  /** Error message for holders that were dropped or found no room. */
  readonly message: string;
  /** Holders younger than this are not dropped. */
  readonly spareMs?: number | undefined;
  /** Which holders are dropped first; default: the slowest. */
  readonly first?: 'slowest' | 'largest' | undefined;
}

export class ByteBudget {
  readonly bytesMax: number;
  readonly #message: string;
  readonly #spareMs: number;
  readonly #first: 'slowest' | 'largest';
  #heldBytes = 0;
  /** Shares that may be dropped, but for those that their owners list. */
  readonly #droppable = new Set<Share>();
  readonly #listed: (() => Iterable<Share>)[] = [];
  readonly #ledgerOfListed: Ledger = {
    changed: (share, byBytes) => {
      this.#heldBytes += byBytes;
      if (byBytes > 0 && this.#heldBytes > this.bytesMax) this.#relieve(share);
    },
  };

  readonly #ledger: Ledger = {
    changed: (share, byBytes) => {
      if (share.isDroppable) this.#droppable.add(share);
      else this.#droppable.delete(share);
      this.#ledgerOfListed.changed(share, byBytes);
    },
  };

  constructor({ bytesMax, message, spareMs = 0, first = 'slowest' }: ByteBudgetOptions) {
    this.bytesMax = bytesMax;
    this.#message = message;
    this.#spareMs = spareMs;
    this.#first = first;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * `drop` is called at most once, with the error for the client (LIM-E001). The share's bytes no longer count then.
   */
  share(drop: (reason: EngineError) => void): Share {
    return new Share(drop, this.#ledger);
  }

  /** A share that its owner lists (`list`). It costs its owner less. */
  listedShare(drop: (reason: EngineError) => void): Share {
    return new Share(drop, this.#ledgerOfListed);
  }

  /** `shares` gives the shares that `listedShare` made and that hold bytes; it may give others too. */
  list(shares: () => Iterable<Share>): void {
    this.#listed.push(shares);
  }

  #relieve(latest: Share): void {
    const nowMs = performance.now();
    const inTurn = [...this.#droppable, ...this.#listed.flatMap((shares) => [...shares()])]
      .filter((share) => share.isDroppable && nowMs - share.startedMs >= this.#spareMs)
      .sort(this.#first === 'slowest' ? (a, b) => a.pace(nowMs) - b.pace(nowMs) : (a, b) => b.bytes - a.bytes);
    for (const share of inTurn) {
      if (this.#heldBytes <= this.bytesMax * RELIEVED_PART) return;
      share.drop(this.#refusal());
    }
    // No holder can be dropped, the newest included: it gets the error and decides.
    if (this.#heldBytes > this.bytesMax && latest.bytes > 0) throw this.#refusal();
  }

  #refusal(): EngineError {
    return new EngineError('LIM-E001', this.#message);
  }
}

interface Ledger {
  readonly changed: (share: Share, byBytes: number) => void;
}

export class Share {
  /** Bytes held now. */
  bytes = 0;
  readonly startedMs = performance.now();
  readonly #ledger: Ledger;
  readonly #drop: (reason: EngineError) => void;
  #isSettled = false;

  constructor(drop: (reason: EngineError) => void, ledger: Ledger) {
    this.#drop = drop;
    this.#ledger = ledger;
  }

  get isDroppable(): boolean {
    return this.bytes > 0 && !this.#isSettled;
  }

  /** Bytes per millisecond since the share began. */
  pace(nowMs: number): number {
    return this.bytes / (nowMs - this.startedMs + 1);
  }

  /**
   * Sets the bytes held. May drop other shares or this one. Throws LIM-E001 when there is no room and nothing to drop.
   */
  hold(bytes: number): void {
    const byBytes = bytes - this.bytes;
    if (byBytes === 0) return;
    this.bytes = bytes;
    this.#ledger.changed(this, byBytes);
  }

  /** The request is complete and is being processed: it can no longer be dropped. Its bytes count until `release`. */
  settle(): void {
    this.#isSettled = true;
    this.#ledger.changed(this, 0);
  }

  release(): void {
    this.hold(0);
  }

  drop(reason: EngineError): void {
    this.release();
    this.#drop(reason);
  }
}

const MB = 1_048_576;

/** Budget for requests while they arrive and are processed. */
export function requestBudget(megabytes: number): ByteBudget {
  return new ByteBudget({
    bytesMax: megabytes * MB,
    message: 'too many bytes of requests are in progress: try again later',
  });
}

/** Budget for answers that clients have not read. */
export function answerBudget(megabytes: number): ByteBudget {
  return new ByteBudget({
    bytesMax: megabytes * MB,
    message: 'too many bytes of answers wait for their clients: read answers faster',
    spareMs: ANSWER_SPARED_MS,
  });
}

/** Budget for what connections could not send, besides answers that have a budget of their own. */
export function unreadBudget(megabytes: number): ByteBudget {
  return new ByteBudget({
    bytesMax: megabytes * MB,
    message: 'too many bytes wait for their clients: read answers faster',
    first: 'largest',
  });
}
