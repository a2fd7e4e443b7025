// Pages over several partitions: lists are merged by their sort order, exports go through one partition after another.

import { assert } from '../../engine/base/assert.ts';
import { defined } from '../../engine/base/defined.ts';
import { ANSWER_BYTES_MAX, PAGE_LIMIT_MAX } from '../../engine/base/limits.ts';
import { AnswerRoom, partOfGrain } from '../../engine/grain/api/answer-room.ts';
import type { GrainView, Input, Output } from '../protocol.ts';
import type { Fan } from './fan.ts';
import { sumOf } from './merge.ts';
import { bytesOf } from './recall.ts';
import type { Held } from './room.ts';
import { withAllSources } from './sources.ts';

type ListInput = Input<'list'>;
export type Position = NonNullable<ListInput['after']>;

/**
 * A list over all partitions, sorted by creation time (ascending or descending as requested), then by hash ascending.
 * Reads every partition page by page from the same position. `offset` counts in the merged order.
 */
export async function gatherList(fan: Fan, input: ListInput, held: Held): Promise<Output<'list'>> {
  const { offset = 0, ...rest } = input;
  const wanted = offset + input.limit;
  // Together the partitions hold about two answers, whatever their number.
  const page = { ...rest, limit: Math.min(wanted, PAGE_LIMIT_MAX) };
  const firsts = await fan.all('list', { ...page, bytesMax: await bytesOfEach(fan, held) });
  for (const { grains: first } of firsts) held.add(bytesOf(first));
  const streams = firsts.map((first, partition) => new ListStream({ fan, partition, input: page, held }, first));
  const grains: GrainView[] = [];
  const room = new AnswerRoom();
  for (let taken = 0; taken < wanted; taken++) {
    const next = await smallest(streams, input.order);
    if (next?.head === undefined) break;
    if (taken >= offset && !room.takes(partOfGrain(next.head))) break;
    const grain = next.take();
    if (taken >= offset) grains.push(grain);
  }
  const last = grains.at(-1);
  const more = streams.some((stream) => stream.hasMore);
  return defined({
    grains: await withAllSources(fan, grains),
    total: sumOf(firsts, 'total'),
    more,
    next: more && last !== undefined ? positionOf(last) : undefined,
  });
}

/** Bytes that each partition may answer with. */
async function bytesOfEach(fan: Fan, held: Held): Promise<number> {
  return Math.ceil((await held.room(2 * ANSWER_BYTES_MAX)) / fan.partitions);
}

async function smallest(streams: readonly ListStream[], order: ListInput['order']): Promise<ListStream | undefined> {
  let best: ListStream | undefined;
  for (const stream of streams) {
    await stream.fill();
    if (stream.head === undefined) continue;
    if (best?.head === undefined || comesBefore(stream.head, best.head, order)) best = stream;
  }
  return best;
}

interface ListSource {
  readonly fan: Fan;
  readonly partition: number;
  readonly input: ListInput;
  readonly held: Held;
}

/** A cursor over one partition's list. Reads page by page. */
class ListStream {
  readonly #source: ListSource;
  #page: Output<'list'>;
  #at = 0;

  constructor(source: ListSource, first: Output<'list'>) {
    this.#source = source;
    this.#page = first;
  }

  get head(): GrainView | undefined {
    return this.#page.grains[this.#at];
  }

  get hasMore(): boolean {
    return this.head !== undefined || this.#page.more;
  }

  take(): GrainView {
    const { head } = this;
    assert(head !== undefined, 'a grain is taken only after fill');
    this.#at++;
    return head;
  }

  /** Reads on if the current page is used up, up to one with a grain: one whose grains cannot be read has none. */
  async fill(): Promise<void> {
    const { fan, partition, input, held } = this.#source;
    for (let { next } = this.#page; this.head === undefined && next !== undefined; { next } = this.#page) {
      const bytesMax = await bytesOfEach(fan, held);
      this.#page = await fan.one(partition, 'list', { ...input, after: next, bytesMax });
      held.add(bytesOf(this.#page.grains));
      this.#at = 0;
    }
  }
}

function positionOf({ createdAtMs, hash }: Position): Position {
  return { createdAtMs, hash };
}

/**
 * A page of edges over all partitions. It ends at the earliest end of a partition's page: what follows there may come
 * before the other partitions' next edges.
 */
export function mergeEdges(answers: readonly Output<'edges'>[], { limit }: Input<'edges'>): Output<'edges'> {
  const ends = answers.flatMap(({ next }) => next ?? []);
  const end = ends.reduce<Position | undefined>(
    (a, b) => (a === undefined || comesBefore(b, a, 'desc') ? b : a),
    undefined,
  );
  const known = answers
    .flatMap(({ edges }) => edges)
    .filter((edge) => end === undefined || !comesBefore(end, edge, 'desc'))
    .sort((a, b) => (comesBefore(a, b, 'desc') ? -1 : 1));
  if (known.length <= limit) return { edges: known, next: end };
  const edges = known.slice(0, limit);
  return { edges, next: positionOf(edges.at(-1)!) };
}

/** True if `a` comes before `b` in a list of this order. */
export function comesBefore(a: Position, b: Position, order: ListInput['order']): boolean {
  if (a.createdAtMs !== b.createdAtMs) return a.createdAtMs < b.createdAtMs === (order === 'asc');
  return a.hash < b.hash;
}

/** Ordinals are u32. An export position is `partition * ORDINALS + ordinal`. */
const ORDINALS = 2 ** 32;

/**
 * A page of an export. Its position also encodes the partition. Ordinals start after 0, so the position after a
 * partition's last grain is the start of the next partition.
 */
export async function gatherExportPage(fan: Fan, input: Input<'exportPage'>): Promise<Output<'exportPage'>> {
  const { partition, after, placed } = placeIn(fan, input.after);
  const page = await fan.one(partition, 'exportPage', { ...input, after });
  return { ...page, ...placed(page) };
}

/** A page of one person's grains, with positions as in `gatherExportPage`. */
export async function gatherPersonPage(fan: Fan, input: Input<'personPage'>): Promise<Output<'personPage'>> {
  const { partition, after, placed } = placeIn(fan, input.after);
  const page = await fan.one(partition, 'personPage', { ...input, after });
  const views = await withAllSources(
    fan,
    page.grains.map(({ view }) => view),
    { hidden: true },
  );
  const grains = page.grains.map((grain, at) => ({ ...grain, view: views[at]! }));
  return { ...page, grains, ...placed(page) };
}

interface End {
  readonly last: number;
  readonly done: boolean;
}

/** Splits an export position into partition and ordinal, with the function that turns the end of a page back into a position. */
function placeIn(fan: Fan, place: number) {
  const partition = Math.floor(place / ORDINALS);
  const base = partition * ORDINALS;
  const isLast = partition === fan.partitions - 1;
  const placed = ({ last, done }: End): End => ({
    last: done && !isLast ? base + ORDINALS : base + last,
    done: done && isLast,
  });
  return { partition, after: place - base, placed };
}
