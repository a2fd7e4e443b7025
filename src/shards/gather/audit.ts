// The audit trail of several partitions as one list: each keeps a chain of its own, and they are merged by time.

import { ANSWER_BYTES_MAX, PAGE_LIMIT_MAX } from '../../engine/base/limits.ts';
import { AnswerRoom } from '../../engine/grain/api/answer-room.ts';
import { nameIn } from '../../engine/record/grain-name.ts';
import type { AuditFilter, AuditView, Input, Output } from '../protocol.ts';
import type { Fan } from './fan.ts';

type Page = Output<'auditPage'>;

/** Newest or oldest first by time, then by partition; each partition's entries stay in the order of its chain. */
export async function gatherAuditPage(fan: Fan, input: Input<'auditPage'>): Promise<Page> {
  const { offset = 0, bytesMax = ANSWER_BYTES_MAX, ...rest } = input;
  // All of them together hold about two answers, however many they are and however far the offset goes.
  const limit = Math.min(offset + rest.limit, PAGE_LIMIT_MAX);
  const filter = await withNames(fan, rest.filter);
  const asked = { ...rest, filter, limit, bytesMax: Math.ceil((2 * bytesMax) / fan.partitions) };
  const pages = await fan.all('auditPage', asked);
  const chains = pages.map((page, partition) => new ChainPages(fan, partition, asked, page));
  const entries: AuditView[] = [];
  const room = new AnswerRoom(bytesMax);
  for (let passed = 0; entries.length < input.limit; ) {
    for (const chain of chains) await chain.fill();
    const first = firstOf(chains, input.order);
    if (first?.head === undefined) break;
    if (passed < offset) passed += 1;
    else if (room.takes(first.head)) entries.push(first.head);
    else break;
    first.take();
  }
  const next = chains.map(({ next: seq }) => seq);
  const total = pages.reduce<number | null>(
    (sum, page) => (sum === null || page.total === null ? null : sum + page.total),
    0,
  );
  if (next.every((seq) => seq === undefined)) return { entries, total };
  const end = input.order === 'asc' ? Number.MAX_SAFE_INTEGER : 0;
  return { entries, total, next: next.map((seq) => seq ?? end) };
}

/** Entries of one partition may name a grain of another, as those of a known fact's further source do. */
async function withNames(fan: Fan, filter: AuditFilter): Promise<AuditFilter> {
  const { grainHash } = filter;
  if (grainHash === undefined) return filter;
  const answers = await fan.all('grainNames', { hashes: [grainHash] });
  const named = answers.map(({ names: [name = ''] }, partition) => (name === '' ? '' : nameIn(partition, name)));
  return { ...filter, grainNames: named.filter((name) => name !== '') };
}

/** One partition's entries, from its first page on. */
class ChainPages {
  readonly #fan: Fan;
  readonly #partition: number;
  readonly #input: Input<'auditPage'>;
  #page: Page;
  #at = 0;

  constructor(fan: Fan, partition: number, input: Input<'auditPage'>, first: Page) {
    this.#fan = fan;
    this.#partition = partition;
    this.#input = input;
    this.#page = first;
  }

  get head(): AuditView | undefined {
    return this.#page.entries[this.#at];
  }

  /** The number of the entry that comes next; undefined at the end. */
  get next(): number | undefined {
    return this.head?.seq ?? this.#page.next?.[0];
  }

  take(): void {
    this.#at += 1;
  }

  /** Reads the next page when this one is used up and there is one. */
  async fill(): Promise<void> {
    const { next } = this;
    if (this.head !== undefined || next === undefined) return;
    // A partition looks at its own place alone.
    const from = Array.from({ length: this.#fan.partitions }, () => next);
    this.#page = await this.#fan.one(this.#partition, 'auditPage', { ...this.#input, from, uncounted: true });
    this.#at = 0;
  }
}

/** Whose next entry comes first; undefined when all are used up. */
function firstOf(chains: readonly ChainPages[], order: 'asc' | 'desc'): ChainPages | undefined {
  let best: ChainPages | undefined;
  for (const chain of chains) {
    if (chain.head === undefined) continue;
    const [time, bestTime] = [chain.head.timestamp, best?.head?.timestamp];
    if (bestTime === undefined || (order === 'asc' ? time < bestTime : time > bestTime)) best = chain;
  }
  return best;
}
