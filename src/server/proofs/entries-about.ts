// Entries of the audit trail about one person.
import type { AuditFilter, AuditView } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';

/**
 * The newest entries about the person, newest first, without those about what that person did to others, which the trail's
 * own filter by user has too. `total` counts both; null where they were not counted.
 */
export async function entriesAbout(
  context: Context,
  userId: string,
  filter: Pick<AuditFilter, 'events' | 'since'>,
  limit: number,
): Promise<{ readonly entries: readonly AuditView[]; readonly total: number | null }> {
  const ask = (more: { readonly user: string } | { readonly actor: string }) =>
    context.call('auditPage', { filter: { ...filter, ...more }, limit, order: 'desc' });
  const [page, acted] = await Promise.all([ask({ user: userId }), ask({ actor: `user:${userId}` })]);
  const onOthers = new Set(acted.entries.filter(({ actor, subject }) => actor !== subject).map(placeOf));
  return { entries: page.entries.filter((entry) => !onOthers.has(placeOf(entry))), total: page.total };
}

function placeOf({ partition, seq }: AuditView): string {
  return `${partition} ${seq}`;
}
