// When the lease of each shard ends, in memory that all threads of a process share. The thread of a shard's log writes it, and so does
// the thread that renews leases (lease-keeper.ts); each thread that passes on an answer of the shard reads it once more: a process that was stopped meanwhile then says
// nothing as an owner.
//
// A lease ends by the first of two clocks: the monotonic one, which nobody sets, and the one of the day, which goes on while the
// machine sleeps.
import { assert } from '../../base/assert.ts';
import { steadyMs, systemClock } from '../../base/clock.ts';

/**
 * For each shard: the end in milliseconds of the monotonic clock, the end in milliseconds since 1970, a state, since when the copy on
 * disk lacks appends, the token that the keeper renews or 0, and when the owner's thread last said that it runs.
 */
const MEMBERS = 6;
const SPOILED = 1n;
const GIVEN_BACK = 2n;
const LOST = 3n;
const DOUBTED = 4n;

/** A lease to be renewed. */
export interface KeptLease {
  readonly shard: number;
  readonly token: number;
}

export class LeaseTable {
  /** Plain data: it crosses threads without a copy. */
  readonly buffer: SharedArrayBuffer;
  readonly #members: BigInt64Array;

  /** For shards 0 to `shards` - 1, none of which is held. */
  static of(shards: number): LeaseTable {
    return new LeaseTable(new SharedArrayBuffer(shards * MEMBERS * BigInt64Array.BYTES_PER_ELEMENT));
  }

  /** The table of another thread. */
  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#members = new BigInt64Array(buffer);
  }

  /** True until the lease that `hold` noted has ended. */
  isHeld(shard: number): boolean {
    const at = this.#at(shard);
    return steadyMs(systemClock) < Number(Atomics.load(this.#members, at)) && Date.now() < this.#dayEnd(at);
  }

  /** Its owner opens the shard: it is neither spoiled nor given back any more. */
  begin(shard: number): void {
    Atomics.store(this.#members, this.#at(shard) + 2, 0n);
  }

  /** The log of the shard takes nothing until it is opened again. */
  spoil(shard: number): void {
    this.#leave(shard, SPOILED);
  }

  /** The shard serves on, and is to be opened again soon: its copy on disk is damaged. */
  doubt(shard: number): void {
    Atomics.compareExchange(this.#members, this.#at(shard) + 2, 0n, DOUBTED);
  }

  /** True for a lost or doubted shard too. */
  isSpoiled(shard: number): boolean {
    const state = Atomics.load(this.#members, this.#at(shard) + 2);
    return state === SPOILED || state === LOST || state === DOUBTED;
  }

  /** From one of the states of a shard that serves. Returns the state before: it stays where that is another one. */
  #leave(shard: number, state: bigint): bigint {
    const at = this.#at(shard) + 2;
    const before = Atomics.compareExchange(this.#members, at, 0n, state);
    return before === DOUBTED ? Atomics.compareExchange(this.#members, at, DOUBTED, state) : before;
  }

  /** Another node has taken the shard, or may have. */
  isLost(shard: number): boolean {
    return Atomics.load(this.#members, this.#at(shard) + 2) === LOST;
  }

  /** From now on the keeper renews the lease, as long as its owner's thread runs. */
  keep(shard: number, token: number): void {
    this.beat(shard);
    Atomics.store(this.#members, this.#at(shard) + 4, BigInt(token));
  }

  /** The owner's thread runs. */
  beat(shard: number): void {
    Atomics.store(this.#members, this.#at(shard) + 5, BigInt(Math.floor(steadyMs(systemClock))));
  }

  /** The owner's thread has ended: its lease is not renewed any more. */
  leave(shard: number): void {
    Atomics.store(this.#members, this.#at(shard) + 4, 0n);
  }

  /** The leases that the keeper renews: of threads that have said within `silentMs` that they run. */
  kept(silentMs: number): readonly KeptLease[] {
    const sinceMs = steadyMs(systemClock) - silentMs;
    const kept: KeptLease[] = [];
    for (let shard = 0; shard * MEMBERS < this.#members.length; shard++) {
      const token = this.#token(shard);
      if (token !== 0 && Number(Atomics.load(this.#members, this.#at(shard) + 5)) >= sinceMs)
        kept.push({ shard, token });
    }
    return kept;
  }

  /** The keeper has renewed the lease. It makes nothing of one that was given up meanwhile. */
  renewed({ shard, token }: KeptLease, since: Moment, leaseMs: number): void {
    const at = this.#at(shard);
    const before = Atomics.load(this.#members, at);
    const end = BigInt(Math.floor(since.steadyMs + leaseMs));
    if (before === 0n || end <= before || this.#token(shard) !== token) return;
    Atomics.store(this.#members, at + 1, BigInt(Math.floor(since.dayMs + leaseMs)));
    // The owner may give it up at this moment.
    Atomics.compareExchange(this.#members, at, before, end);
  }

  /** The keeper has found another owner. */
  lose({ shard, token }: KeptLease): void {
    if (this.#token(shard) !== token) return;
    // Not one that its owner has just given back.
    const before = this.#leave(shard, LOST);
    if (before !== GIVEN_BACK) this.end(shard);
  }

  /** The lease ends so many milliseconds after `since`. */
  hold(shard: number, since: Moment, leaseMs: number): void {
    const at = this.#at(shard);
    Atomics.store(this.#members, at, BigInt(Math.floor(since.steadyMs + leaseMs)));
    Atomics.store(this.#members, at + 1, BigInt(Math.floor(since.dayMs + leaseMs)));
  }

  /**
   * Its owner gives the shard back, after the last answer of it. Those that are still on their way to their callers were made under the
   * lease, unless it has ended already.
   */
  giveBack(shard: number): void {
    if (this.isHeld(shard)) this.#leave(shard, GIVEN_BACK);
    this.end(shard);
  }

  /** The copy of the shard's log on disk lacks appends since then, by the monotonic clock; undefined: it has all. */
  lacks(shard: number, sinceMs: number | undefined): void {
    Atomics.store(this.#members, this.#at(shard) + 3, BigInt(Math.ceil(sinceMs ?? 0)));
  }

  /** How old the oldest append is that the copy on disk lacks, in milliseconds; 0: it has all. */
  lagMs(shard: number): number {
    const sinceMs = Number(Atomics.load(this.#members, this.#at(shard) + 3));
    return sinceMs === 0 ? 0 : Math.max(0, steadyMs(systemClock) - sinceMs);
  }

  /** True from then until the shard is opened again. */
  isGivenBack(shard: number): boolean {
    return Atomics.load(this.#members, this.#at(shard) + 2) === GIVEN_BACK;
  }

  /** The shard was lost. */
  end(shard: number): void {
    this.leave(shard);
    Atomics.store(this.#members, this.#at(shard), 0n);
  }

  #token(shard: number): number {
    return Number(Atomics.load(this.#members, this.#at(shard) + 4));
  }

  #dayEnd(at: number): number {
    return Number(Atomics.load(this.#members, at + 1));
  }

  #at(shard: number): number {
    const at = shard * MEMBERS;
    assert(at >= 0 && at + MEMBERS <= this.#members.length, 'a shard is in the table of leases');
    return at;
  }
}

/** A moment by both clocks. */
export interface Moment {
  readonly steadyMs: number;
  readonly dayMs: number;
}

export function moment(): Moment {
  return { steadyMs: steadyMs(systemClock), dayMs: Date.now() };
}
