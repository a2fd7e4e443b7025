// Each query leaves an entry in its memory's audit trail: its hash and what came of it, never its text.
import { type CalReply, isRefused } from '../../../engine/cal/run/answer.ts';
import { CAL_AUDITS_MAX } from '../../../engine/limits.ts';
import type { Context } from '../../context.ts';

/** Entries on their way to the log. */
let underWay = 0;

/**
 * Resolves at once, as a read does not wait for the disk; while too many entries are under way, when this one is durable. A log
 * that takes nothing does not keep the answer back.
 */
export async function auditQuery(
  context: Context,
  {
    queryHash,
    durationMs,
    reply,
  }: { readonly queryHash: string; readonly durationMs: number; readonly reply: CalReply },
): Promise<void> {
  if (context.services.config.calAudit === 'off') return;
  const outcome: Readonly<Record<string, number | string>> = isRefused(reply)
    ? { code: reply.refused }
    : { result_count: reply.resultCount, statement_type: reply.statementType, tier: reply.tier };
  underWay += 1;
  const written = context
    .call('note', {
      event: 'memory.searched',
      details: { cal_query_sha256: queryHash, duration_ms: durationMs, ...outcome },
    })
    .then(
      () => undefined,
      () => undefined,
    )
    .finally(() => {
      underWay -= 1;
    });
  if (underWay > CAL_AUDITS_MAX) await written;
}
