// Counts and times of what a memory holds of a person: no word of it, so that they may outlive an erasure.
import { steadyMs } from '../../engine/base/clock.ts';
import { TRANSFER_BYTES } from '../../engine/base/limits.ts';
import { GRAIN_TYPE_NAMES } from '../../engine/grain/grain.ts';
import type { Context } from '../context.ts';
import type { HeldSummary } from '../control/records.ts';

/** Time in milliseconds for each page of grains. */
const PAGE_MS = 30_000;

interface Span {
  count: number;
  oldestMs: number;
  newestMs: number;
}

/** Walks all grains of the person, also hidden ones. Rejects with the shards' errors. */
export async function heldSummary(context: Context, userId: string): Promise<HeldSummary> {
  const { clock } = context.services;
  const [{ facts }, { restrictions }, records] = await Promise.all([
    context.call('consents', { userId }),
    context.call('restrictions', { userId }),
    context.call('recallRecords', { filter: { userId }, limit: 1, order: 'desc' }),
  ]);
  const spans = new Map<string, Span>();
  const months = new Map<string, number>();
  let count = 0;
  for (let after = 0; ; ) {
    const deadlineMs = steadyMs(clock) + PAGE_MS;
    const page = await context.call('personPage', { userId, after, limitBytes: TRANSFER_BYTES }, { deadlineMs });
    for (const { view } of page.grains) {
      count += 1;
      take(spans, view.grainType, view.createdAtMs);
      const month = monthOf(view.createdAtMs);
      months.set(month, (months.get(month) ?? 0) + 1);
    }
    if (page.done || page.last <= after) break;
    after = page.last;
  }
  const rank = (type: string): number => (GRAIN_TYPE_NAMES as readonly string[]).indexOf(type);
  return {
    atMs: clock.nowMs(),
    count,
    byType: [...spans]
      .sort(([one], [other]) => rank(one) - rank(other))
      .map(([type, { count, oldestMs, newestMs }]) => ({ type, count, oldestMs, newestMs })),
    byMonth: [...months].sort(([one], [other]) => (one < other ? -1 : 1)).map(([month, count]) => ({ month, count })),
    consents: facts.length,
    recalls: records.total,
    restricted: restrictions.length > 0,
  };
}

function take(spans: Map<string, Span>, type: string, atMs: number): void {
  const span = spans.get(type);
  if (span === undefined) {
    spans.set(type, { count: 1, oldestMs: atMs, newestMs: atMs });
    return;
  }
  span.count += 1;
  span.oldestMs = Math.min(span.oldestMs, atMs);
  span.newestMs = Math.max(span.newestMs, atMs);
}

/** The month in UTC; years before 1970 or after 9999 as ISO 8601 writes them. */
function monthOf(atMs: number): string {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString().replace(/-\d\dT.*$/, '');
}
