// Merges the audit chains of several partitions into one list, ordered by time.

import { ANSWER_BYTES_MAX, PAGE_LIMIT_MAX } from '../../engine/base/limits.ts';
import { AnswerRoom } from '../../engine/grain/api/answer-room.ts';
import { nameIn } from '../../engine/record/grain-name.ts';
import type { AuditFilter, AuditView, Input, Output } from '../protocol.ts';
import type { Fan } from './fan.ts';

type Page = Output<'auditPage'>;

/** A page in the order asked for: by time, then by partition. Entries of one partition keep the order of their chain. */
export async function gatherAuditPage(fan: Fan, input: Input<'auditPage'>): Promise<Page> {
  const { offset = 0, bytesMax = ANSWER_BYTES_MAX, ...rest } = input;
  // Together the partitions hold about two answers, whatever their number and the offset.
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

/**
 * Adds the names that other partitions' entries use for the grain. An entry may name a grain of another partition: the
 * entries about a known fact's further source do.
 */
async function withNames(fan: Fan, filter: AuditFilter): Promise<AuditFilter> {
  const { grainHash } = filter;
  if (grainHash === undefined) return filter;
  const answers = await fan.all('grainNames', { hashes: [grainHash] });
  const named = answers.map(({ names: [name = ''] }, partition) => (name === '' ? '' : nameIn(partition, name)));
  return { ...filter, grainNames: named.filter((name) => name !== '') };
}

/** A cursor over one partition's entries. Reads page by page. */
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

  /** Sequence number of the next entry; undefined at the end. */
  get next(): number | undefined {
    return this.head?.seq ?? this.#page.next?.[0];
  }

  take(): void {
    this.#at += 1;
  }

  /** Reads the next page if the current one is used up and another one exists. */
  async fill(): Promise<void> {
    const { next } = this;
    if (this.head !== undefined || next === undefined) return;
    // Each partition reads only its own element of `from`.
    const from = Array.from({ length: this.#fan.partitions }, () => next);
    this.#page = await this.#fan.one(this.#partition, 'auditPage', { ...this.#input, from, uncounted: true });
    this.#at = 0;
  }
}

/** The chain whose next entry comes first; undefined when all are used up. */
function firstOf(chains: readonly ChainPages[], order: 'asc' | 'desc'): ChainPages | undefined {
  let best: ChainPages | undefined;
  for (const chain of chains) {
    if (chain.head === undefined) continue;
    const [time, bestTime] = [chain.head.timestamp, best?.head?.timestamp];
    if (bestTime === undefined || (order === 'asc' ? time < bestTime : time > bestTime)) best = chain;
  }
  return best;
}
