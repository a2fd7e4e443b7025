// Bytes that many hold at once, under one bound: requests while they arrive and are worked on, answers while their peers take
// them. Each holder has a share. When all shares together are more than the budget, the slowest holders are dropped, as many as
// make room for a while: whoever sends or takes at a fair pace goes on.
import { EngineError } from '../engine/base/errors.ts';
import { ANSWER_SPARED_MS } from '../engine/base/limits.ts';

/** Of the budget, what is left held after the slowest were dropped: so they are looked for seldom. */
const RELIEVED_PART = 0.9;

export interface ByteBudgetOptions {
  readonly bytesMax: number;
  /** What those are told who were dropped, or found no room. */
  readonly message: string;
  /** Holders that began less than so long ago are not dropped. */
  readonly spareMs?: number;
}

export class ByteBudget {
  readonly bytesMax: number;
  readonly #message: string;
  readonly #spareMs: number;
  #heldBytes = 0;
  /** Those that may be dropped. */
  readonly #droppable = new Set<Share>();

  constructor({ bytesMax, message, spareMs = 0 }: ByteBudgetOptions) {
    this.bytesMax = bytesMax;
    this.#message = message;
    this.#spareMs = spareMs;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** `drop` is called at most once, with what to tell the holder's peer (LIM-E001); its bytes are no longer counted then. */
  share(drop: (reason: EngineError) => void): Share {
    return new Share(drop, {
      changed: (share, byBytes) => {
        this.#heldBytes += byBytes;
        if (share.isDroppable) this.#droppable.add(share);
        else this.#droppable.delete(share);
        if (byBytes > 0 && this.#heldBytes > this.bytesMax) this.#relieve(share);
      },
    });
  }

  #relieve(latest: Share): void {
    const nowMs = performance.now();
    const slowest = [...this.#droppable]
      .filter((share) => nowMs - share.startedMs >= this.#spareMs)
      .sort((a, b) => a.pace(nowMs) - b.pace(nowMs));
    for (const share of slowest) {
      if (this.#heldBytes <= this.bytesMax * RELIEVED_PART) return;
      share.drop(this.#refusal());
    }
    // Nobody else gives way, and it does not itself: it is told, and decides.
    if (this.#heldBytes > this.bytesMax && latest.bytes > 0) throw this.#refusal();
  }

  #refusal(): EngineError {
    return new EngineError('LIM-E001', this.#message);
  }
}

interface Account {
  readonly changed: (share: Share, byBytes: number) => void;
}

export class Share {
  /** What it holds now. */
  bytes = 0;
  readonly startedMs = performance.now();
  readonly #account: Account;
  readonly #drop: (reason: EngineError) => void;
  #isSettled = false;

  constructor(drop: (reason: EngineError) => void, account: Account) {
    this.#drop = drop;
    this.#account = account;
  }

  get isDroppable(): boolean {
    return this.bytes > 0 && !this.#isSettled;
  }

  /** Bytes a millisecond since it began. */
  pace(nowMs: number): number {
    return this.bytes / (nowMs - this.startedMs + 1);
  }

  /** Holds so many bytes from now on. May drop others, or this one; throws LIM-E001 when there is no room and none to make. */
  hold(bytes: number): void {
    const byBytes = bytes - this.bytes;
    if (byBytes === 0) return;
    this.bytes = bytes;
    this.#account.changed(this, byBytes);
  }

  /** All has come: it is worked on, and not dropped any more. What it holds counts until `release`. */
  settle(): void {
    this.#isSettled = true;
    this.#account.changed(this, 0);
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

/** For requests while they arrive and are worked on. */
export function requestBudget(megabytes: number): ByteBudget {
  return new ByteBudget({ bytesMax: megabytes * MB, message: 'too many bytes of requests are under way' });
}

/** For answers that peers have not taken. */
export function answerBudget(megabytes: number): ByteBudget {
  return new ByteBudget({
    bytesMax: megabytes * MB,
    message: 'too many bytes of answers wait for their callers',
    spareMs: ANSWER_SPARED_MS,
  });
}
