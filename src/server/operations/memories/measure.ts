// Measures a memory for its metrics, and says which callers may share the result.
import { includesScope } from '../../auth/principal.ts';
import type { Context } from '../../context.ts';
import { intelRows } from '../../metering/intel.ts';
import type { ComputedMetrics } from '../../metering/metering.ts';
import { type HookTally, opsRows } from '../../metering/ops.ts';
import type { Domain } from '../../metering/rows.ts';

const HOUR_MS = 3_600_000;

export function computed(domain: Domain, context: Context): Promise<ComputedMetrics> {
  const key = JSON.stringify([domain, ...reachOf(context)]);
  return context.services.metering.of(key, () => (domain === 'ops' ? measuredOps(context) : measuredIntel(context)));
}

/**
 * All that decides what a caller may learn of the memory. Access tuples decide by the caller itself; a key of scope
 * admin sees everything.
 */
function reachOf(context: Context): readonly unknown[] {
  const { memory, principal, namespace, userId } = context;
  const owner = includesScope(principal, 'admin') ? null : principal.actor;
  return [memory.number, namespace ?? null, userId ?? null, owner, seesProcess(context)];
}

/** True for a caller that may learn about all memories of the server. */
function seesProcess({ principal: { memoryIds }, namespace, userId }: Context): boolean {
  return memoryIds === undefined && namespace === undefined && userId === undefined;
}

function hasVectors({ services: { embedders }, memory }: Context): boolean {
  return embedders.status(memory.vectorBackend ?? '').state !== 'none';
}

async function measuredOps(context: Context): Promise<ReturnType<typeof opsRows>> {
  const shards = await context.call('measureOps', {});
  const { windows } = context.services.metering;
  return opsRows({
    windows,
    shards,
    seesProcess: seesProcess(context),
    hasVectors: hasVectors(context),
    hooks: hookTally(context),
  });
}

/** The deliveries of the last 24 hours, in whole hours. */
function hookTally({ services: { hooks, deliveries, clock }, memory }: Context): HookTally {
  const sinceHour = Math.floor(clock.nowMs() / HOUR_MS) - 24;
  const webhooks = hooks.of(memory).filter(({ url }) => url !== undefined);
  const hours = webhooks.flatMap((hook) => deliveries.stateOf(hook).hours).filter(([hour]) => hour > sinceHour);
  return {
    webhooks: webhooks.length,
    delivered: hours.reduce((sum, [, delivered]) => sum + delivered, 0),
    dead: hours.reduce((sum, [, , dead]) => sum + dead, 0),
  };
}

async function measuredIntel(context: Context): Promise<ReturnType<typeof intelRows>> {
  const counts = await context.call('measureIntel', {});
  const comparison = await context.call('compareSamples', {
    identities: counts.sample.flatMap(({ identity }) => (identity === undefined ? [] : [identity])),
    beliefs: counts.beliefSample,
    names: counts.sample.flatMap(({ oldName }) => (oldName === undefined ? [] : [oldName])),
  });
  const extractions = context.services.extractions.backlogOf(context.memory.number);
  return intelRows({ counts, comparison, hasVectors: hasVectors(context), extractions });
}
