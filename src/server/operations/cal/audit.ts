// Writes an audit entry for each query: its hash and outcome, never its text.

import { CAL_AUDITS_MAX } from '../../../engine/base/limits.ts';
import { type CalReply, isRefused } from '../../../engine/calls/cal.ts';
import type { Context } from '../../context.ts';

/** Number of entries whose append is pending. */
let underWay = 0;

/**
 * Appends the query's audit entry. Resolves at once, because a read must not wait for the disk; with too many appends
 * pending, resolves when this entry is durable. A log that refuses writes does not fail the query.
 */
export async function auditQuery(
  context: Context,
  {
    queryHash,
    durationMs,
    reply,
  }: { readonly queryHash: string; readonly durationMs: number; readonly reply: CalReply },
): Promise<void> {
  await keepQuery(context, queryHash, reply);
  if (context.services.config.calAudit === 'off') return;
  const outcome: Readonly<Record<string, number | string>> = isRefused(reply)
    ? { code: reply.refused }
    : { result_count: reply.resultCount, statement_type: reply.statementType, tier: reply.tier };
  underWay += 1;
  const written = context
    .call('note', {
      event: 'memory.searched',
      details: { duration_ms: durationMs, ...outcome },
      texts: { cal_query: queryHash },
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

/** Statements that read grains. */
const READS: ReadonlySet<string> = new Set(['recall', 'set_op', 'assemble', 'exists', 'history', 'batch', 'coalesce']);
/** Maximum number of an answer's hashes that its record names. */
const NAMED_MAX = 500;
const HASH = /"hash":"(?:sha256:)?([0-9a-f]{64})"/g;
const SCANNED = /"grains_scanned":(\d+)/g;

/** Keeps a recall record for a query that reads grains: the hash of its text and the grains that its answer names. */
async function keepQuery(context: Context, queryHash: string, reply: CalReply): Promise<void> {
  if (isRefused(reply) || !READS.has(reply.statementType)) return;
  const hashes = new Set<string>();
  for (const [, hash] of reply.resultJson.matchAll(HASH)) {
    if (hash !== undefined) hashes.add(hash);
    if (hashes.size >= NAMED_MAX) break;
  }
  // The metadata block of the query is at the end, behind those of its entries.
  const scanned = [...reply.resultJson.slice(-CAL_BLOCK_CHARS).matchAll(SCANNED)].at(-1)?.[1];
  await context.call('keepRecall', {
    mode: 'cal',
    asked: false,
    query: {
      detect_contradictions: false,
      grain_type: null,
      has_embedding: false,
      has_text: true,
      options: [reply.statementType],
      text_sha256: queryHash,
    },
    namespace: '',
    candidateCount: Math.max(Number(scanned ?? 0), reply.resultCount),
    results: [...hashes].map((hash) => ({ hash, score: [] })),
    resultCount: reply.resultCount,
    excluded: { counts: {}, named: [] },
  });
}

const CAL_BLOCK_CHARS = 4_096;
