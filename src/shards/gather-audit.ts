// The audit trail of several partitions as one list: each keeps a chain of its own, and they are merged by time.
import type { Fan } from './fan.ts';
import type { AuditView, Input, Output } from './protocol.ts';

/** Newest or oldest first by time, then by partition; each partition's entries stay in the order of its chain. */
export async function gatherAuditPage(fan: Fan, input: Input<'auditPage'>): Promise<Output<'auditPage'>> {
  const pages = await fan.all('auditPage', input);
  const taken = pages.map(() => 0);
  const entries: AuditView[] = [];
  while (entries.length < input.limit) {
    const partition = firstOf(pages, taken, input.order);
    if (partition === undefined) break;
    entries.push(pages[partition]!.entries[taken[partition]!]!);
    taken[partition]! += 1;
  }
  const next = pages.map((page, partition) => page.entries[taken[partition]!]?.seq ?? page.next?.[0]);
  const total = pages.reduce<number | null>(
    (sum, page) => (sum === null || page.total === null ? null : sum + page.total),
    0,
  );
  if (next.every((seq) => seq === undefined)) return { entries, total };
  const end = input.order === 'asc' ? Number.MAX_SAFE_INTEGER : 0;
  return { entries, total, next: next.map((seq) => seq ?? end) };
}

/** Whose next entry comes first; undefined when all are used up. */
function firstOf(
  pages: readonly Output<'auditPage'>[],
  taken: readonly number[],
  order: 'asc' | 'desc',
): number | undefined {
  let best: { readonly partition: number; readonly timestamp: number } | undefined;
  pages.forEach(({ entries }, partition) => {
    const entry = entries[taken[partition]!];
    if (entry === undefined) return;
    const isBefore =
      best === undefined || (order === 'asc' ? entry.timestamp < best.timestamp : entry.timestamp > best.timestamp);
    if (isBefore) best = { partition, timestamp: entry.timestamp };
  });
  return best?.partition;
}
