// Counts the acts of a memory's agents in this partition, in the log's state. It is written with the group that it counts, so it
// is as durable as the grains, and nothing is counted again after a crash.
//
//   agent-stats/M/TOKEN     u32 grains | u32 succeeded | u32 failed | u32 refused | first seen ms u48 | last seen ms u48 |
//                           u32 changes of trust | u32 sequence of the record of its name, 0 when only an identity has it
//   agent-trust/M/TOKEN/SLOT   a page of changes of trust: u32 number of the page | u32 succeeded, failed, refused before it |
//                           then for each change: at ms u48, u8 reason, u32 ordinal of the action (0: none)
//   agent-count/M/seen      u32 number of agents that were without an identity at their first act
//
// M is the memory's number, TOKEN that of the agent's id (store/agents.ts). A page has room for TRUST_PAGE_POINTS changes. The
// slot is the page's number modulo TRUST_PAGES, so that a new page replaces the oldest.
import { TRUST_PAGE_POINTS, TRUST_PAGES } from '../base/limits.ts';
import { TRUST_REASONS, type TrustCounts, type TrustReason } from '../govern/agents/trust.ts';
import type { Log, Sequence } from '../log/log.ts';

const STATS_BYTES = 36;
const PAGE_HEAD_BYTES = 16;
const POINT_BYTES = 11;
const U32_MAX = 0xffff_ffff;
const REASONS = new Map(Object.entries(TRUST_REASONS).map(([name, number]) => [number as number, name as TrustReason]));

export interface AgentStats extends TrustCounts {
  readonly grains: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** Changes of trust so far. */
  readonly changes: number;
  readonly nameSequence: Sequence;
}

/** A change of trust as a page holds it. */
export interface StoredChange {
  readonly atMs: number;
  readonly reason: TrustReason;
  readonly ordinal: number;
}

export interface TrustPage {
  readonly number: number;
  readonly before: TrustCounts;
  readonly changes: readonly StoredChange[];
}

/** `token`: that of the agent, in hex. */
export function statsState(memory: number, token: string): string {
  return `${allStatsState(memory)}${token}`;
}

export function allStatsState(memory: number): string {
  return `agent-stats/${memory}/`;
}

export function seenCountState(memory: number): string {
  return `agent-count/${memory}/seen`;
}

export function seenCount(log: Log, memory: number): number {
  const value = log.getState(seenCountState(memory));
  return value === undefined ? 0 : Buffer.from(value).readUInt32BE(0);
}

export function trustState(memory: number, token: string, page: number): string {
  return `${trustStates(memory, token)}${page % TRUST_PAGES}`;
}

/** Prefix of the state entries of an agent's changes of trust. */
export function trustStates(memory: number, token: string): string {
  return `agent-trust/${memory}/${token}/`;
}

export function statsOf(log: Log, memory: number, token: string): AgentStats | undefined {
  const value = log.getState(statsState(memory, token));
  return value === undefined ? undefined : readStats(value);
}

export function readStats(value: Uint8Array): AgentStats {
  const bytes = Buffer.from(value);
  return {
    grains: bytes.readUInt32BE(0),
    succeeded: bytes.readUInt32BE(4),
    failed: bytes.readUInt32BE(8),
    refused: bytes.readUInt32BE(12),
    firstMs: bytes.readUIntBE(16, 6),
    lastMs: bytes.readUIntBE(22, 6),
    changes: bytes.readUInt32BE(28),
    nameSequence: bytes.readUInt32BE(32),
  };
}

export function writeStats(stats: AgentStats): Buffer {
  const bytes = Buffer.alloc(STATS_BYTES);
  [stats.grains, stats.succeeded, stats.failed, stats.refused].forEach((count, i) => {
    bytes.writeUInt32BE(Math.min(count, U32_MAX), i * 4);
  });
  bytes.writeUIntBE(stats.firstMs, 16, 6);
  bytes.writeUIntBE(stats.lastMs, 22, 6);
  bytes.writeUInt32BE(Math.min(stats.changes, U32_MAX), 28);
  bytes.writeUInt32BE(stats.nameSequence, 32);
  return bytes;
}

/** The page with this number, unless a newer one has replaced it. */
function pageOf(log: Log, memory: number, token: string, number: number): TrustPage | undefined {
  const value = log.getState(trustState(memory, token, number));
  const page = value === undefined ? undefined : readPage(value);
  return page?.number === number ? page : undefined;
}

/** The pages that are there, the oldest first. `changes` is the number of changes so far. */
export function pagesOf(log: Log, memory: number, token: string, changes: number): TrustPage[] {
  const last = Math.floor(Math.max(0, changes - 1) / TRUST_PAGE_POINTS);
  const pages: TrustPage[] = [];
  for (let number = Math.max(0, last - TRUST_PAGES + 1); number <= last; number++) {
    const page = pageOf(log, memory, token, number);
    if (page !== undefined) pages.push(page);
  }
  return pages;
}

/**
 * Appends changes of trust to the pages of an agent. It copies bytes instead of decoding them: an import of actions makes a
 * change for each.
 */
export class TrustWriter {
  readonly #log: Log;
  readonly #memory: number;
  readonly #token: string;
  /** The time of the new changes. */
  readonly #stamp = Buffer.alloc(6);
  #succeeded: number;
  #failed: number;
  #refused: number;
  #changes: number;

  constructor(log: Log, { memory, token, nowMs }: { memory: number; token: string; nowMs: number }, stats: AgentStats) {
    this.#log = log;
    this.#memory = memory;
    this.#token = token;
    this.#stamp.writeUIntBE(nowMs, 0, 6);
    this.#succeeded = stats.succeeded;
    this.#failed = stats.failed;
    this.#refused = stats.refused;
    this.#changes = stats.changes;
  }

  get counts(): TrustCounts {
    return { succeeded: this.#succeeded, failed: this.#failed, refused: this.#refused };
  }

  /** Calls `put` with each page that the changes touch, but for those that later ones of these replace. */
  append(
    changes: readonly { readonly reason: TrustReason; readonly ordinal: number }[],
    put: (state: string, page: Uint8Array) => void,
  ): void {
    const lastPage = Math.floor((this.#changes + changes.length - 1) / TRUST_PAGE_POINTS);
    for (let from = 0; from < changes.length; ) {
      const page = Math.floor(this.#changes / TRUST_PAGE_POINTS);
      const count = this.#changes % TRUST_PAGE_POINTS;
      const to = Math.min(changes.length, from + TRUST_PAGE_POINTS - count);
      const bytes = this.#page(page, count, to - from);
      for (let at = bytes.length - (to - from) * POINT_BYTES; from < to; from++, at += POINT_BYTES)
        this.#write(bytes, at, changes[from]!);
      if (lastPage - page < TRUST_PAGES) put(trustState(this.#memory, this.#token, page), bytes);
    }
  }

  /** The page with its first `count` changes, and room for `more`. */
  #page(page: number, count: number, more: number): Buffer {
    const bytes = Buffer.alloc(PAGE_HEAD_BYTES + (count + more) * POINT_BYTES);
    const known = count === 0 ? undefined : this.#log.getState(trustState(this.#memory, this.#token, page));
    if (known !== undefined) bytes.set(known.subarray(0, PAGE_HEAD_BYTES + count * POINT_BYTES));
    else {
      bytes.writeUInt32BE(page, 0);
      bytes.writeUInt32BE(Math.min(this.#succeeded, U32_MAX), 4);
      bytes.writeUInt32BE(Math.min(this.#failed, U32_MAX), 8);
      bytes.writeUInt32BE(Math.min(this.#refused, U32_MAX), 12);
    }
    return bytes;
  }

  #write(bytes: Buffer, at: number, { reason, ordinal }: { reason: TrustReason; ordinal: number }): void {
    for (let i = 0; i < 6; i++) bytes[at + i] = this.#stamp[i]!;
    bytes[at + 6] = TRUST_REASONS[reason];
    bytes[at + 7] = ordinal >>> 24;
    bytes[at + 8] = ordinal >>> 16;
    bytes[at + 9] = ordinal >>> 8;
    bytes[at + 10] = ordinal;
    if (reason === 'action_succeeded') this.#succeeded += 1;
    else if (reason === 'action_failed') this.#failed += 1;
    else this.#refused += 1;
    this.#changes += 1;
  }
}

function readPage(value: Uint8Array): TrustPage {
  const bytes = Buffer.from(value);
  const changes: StoredChange[] = [];
  for (let at = PAGE_HEAD_BYTES; at + POINT_BYTES <= bytes.length; at += POINT_BYTES)
    changes.push({
      atMs: bytes.readUIntBE(at, 6),
      reason: REASONS.get(bytes[at + 6]!) ?? 'action_failed',
      ordinal: bytes.readUInt32BE(at + 7),
    });
  return {
    number: bytes.readUInt32BE(0),
    before: { succeeded: bytes.readUInt32BE(4), failed: bytes.readUInt32BE(8), refused: bytes.readUInt32BE(12) },
    changes,
  };
}
