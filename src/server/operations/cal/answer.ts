// Runs a query with the rights of a caller: in the memory's shard, or on this thread when it writes or would block the shard.
import { steadyMs } from '../../../engine/base/clock.ts';
import { CalError } from '../../../engine/cal/errors.ts';
import type { CheckedQuery } from '../../../engine/cal/query.ts';
import { refusal } from '../../../engine/cal/run/answer.ts';
import { tierOf } from '../../../engine/cal/run/kinds.ts';
import { planOf } from '../../../engine/cal/run/plans.ts';
import { searchedTexts } from '../../../engine/cal/run/searched.ts';
import {
  type CalCall,
  type CalReply,
  type CalSession,
  isRefused,
  type QueryVector,
} from '../../../engine/calls/cal.ts';
import { runCal } from '../../../shards/gather/cal.ts';
import { includesScope } from '../../auth/principal.ts';
import type { Context } from '../../context.ts';
import { NeedsLeader } from '../../control/replica/needs-leader.ts';
import { VERSION } from '../../version.ts';

export interface Answer {
  readonly reply: CalReply;
  readonly warnings: readonly string[];
}

/** Members of a query's session that differ from what the caller and the deployment give it. */
export type Narrowed = Partial<Pick<CalSession, 'tier' | 'strict'>>;

/** The answer or the refusal of a query. `narrowed`: for the server's own queries. */
export async function answer(query: string, context: Context, narrowed: Narrowed = {}): Promise<Answer> {
  const { strict = context.services.config.calStrict } = narrowed;
  try {
    return await answerChecked(query, planOf(query, strict), context, narrowed);
  } catch (error) {
    if (error instanceof CalError) return { reply: refusal(error.located(query)), warnings: [] };
    throw error;
  }
}

async function answerChecked(
  source: string,
  { query }: CheckedQuery,
  context: Context,
  narrowed: Narrowed,
): Promise<Answer> {
  const { statement } = query;
  const { cal } = context.services;
  // Changes are counted by caller, and templates are in the control log.
  if (context.isOnCopy === true && (tierOf(statement) !== 0 || statement.kind === 'define_template'))
    throw new NeedsLeader('the statement changes something');
  const { texts, fallbacks } = searchedTexts(query);
  const { vectors, warnings } = await vectorsOf(texts, context);
  const call = { query: source, session: { ...sessionOf(source, context), ...narrowed }, vectors };
  const { session } = call;
  if (tierOf(statement) === 0 || session.tier === 0) {
    const reply = await runThere(call, context);
    const missing = isRefused(reply) ? [] : fallbacks.filter((text) => reply.withoutVector.includes(text));
    if (missing.length > 0) {
      // Most texts match a stored name exactly; only the others need a vector.
      const more = await vectorsOf(missing, context);
      const again =
        more.vectors.length === 0
          ? reply
          : await runThere({ ...call, vectors: [...vectors, ...more.vectors] }, context);
      return { reply: again, warnings: [...warnings, ...more.warnings] };
    }
    if (statement.kind === 'define_template' && !isRefused(reply)) {
      const { name, extends: parent, body } = statement;
      const place = { memory: context.memory.number, namespace: context.namespace };
      await cal.define(place, name, { body, extends: parent });
    }
    return { reply, warnings };
  }
  if (statement.kind === 'add' || statement.kind === 'supersede' || statement.kind === 'revert')
    cal.take(statement.kind, context.principal.keyId ?? context.principal.actor);
  return { reply: await runHere(call, context), warnings };
}

/** Runs the query in the memory's shard, or on this thread when it would block the shard too long. */
async function runThere(call: CalCall, context: Context): Promise<CalReply> {
  const whole = await context.call('cal', call);
  return 'tooLong' in whole ? runHere(call, context) : whole;
}

/** Runs the query on this thread with one shard call per step: it writes, or would block the shard too long. */
function runHere(call: CalCall, context: Context): Promise<CalReply> {
  const asker = {
    memory: context.memory.number,
    actor: context.principal.actor,
    requestId: context.requestId,
    deadlineMs: context.deadlineMs,
    namespace: context.namespace,
    userId: context.userId,
  };
  return runCal(context.call, asker, call, context.services.clock);
}

const NO_VECTORS: { readonly vectors: readonly QueryVector[]; readonly warnings: readonly string[] } = {
  vectors: [],
  warnings: [],
};

/** Maximum number of texts that are embedded; the others are searched for by words. */
const VECTORS_MAX = 16;

async function vectorsOf(texts: readonly string[], context: Context): Promise<typeof NO_VECTORS> {
  if (texts.length === 0) return NO_VECTORS;
  const { queryVectors, clock } = context.services;
  const waitMs = context.deadlineMs - steadyMs(clock);
  const made = await Promise.all(
    texts
      .slice(0, VECTORS_MAX)
      .map((text) => queryVectors.of(context.memory, { text, userId: context.userId }, waitMs)),
  );
  return {
    vectors: made.flatMap(({ vector }) => (vector === undefined ? [] : [vector])),
    warnings: [...new Set(made.flatMap(({ warning }) => (warning === undefined ? [] : [warning])))],
  };
}

/** The caller's rights and limits, none of which the query can set. */
function sessionOf(query: string, context: Context): CalSession {
  const { config, cal, embedders } = context.services;
  const { tierOneEnabled } = cal.switches;
  const { principal } = context;
  const embedder = embedders.of(context.memory.vectorBackend ?? '')?.name;
  return {
    tier: tierOneEnabled && includesScope(principal, 'write') ? 1 : 0,
    tierOneEnabled,
    // Templates belong to a namespace or the memory, so a caller narrowed to a user may not define them.
    mayDefine: includesScope(principal, 'admin') && context.userId === undefined,
    // Loaded only for queries that mention templates.
    templates: /template/i.test(query) ? cal.templatesOf(context.memory.number, context.namespace) : {},
    server: { name: 'granary', version: VERSION },
    embedder,
    autoToon: config.calAutoToon,
    tokens: config.calTokens,
    strict: config.calStrict || undefined,
    queryTimeoutMs: config.calTimeoutMs,
    assembleTimeoutMs: 2 * config.calTimeoutMs,
  };
}
