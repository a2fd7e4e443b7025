// Measures a memory for its metrics, and says which callers may share the result.
import { SYSTEM_ACTOR } from '../../../engine/govern/trail/audit.ts';
import type { Input, Output } from '../../../shards/protocol.ts';
import { includesScope } from '../../auth/principal.ts';
import type { Context } from '../../context.ts';
import { intelRows } from '../../metering/intel.ts';
import type { ComputedMetrics } from '../../metering/metering.ts';
import { type HookTally, opsRows } from '../../metering/ops.ts';
import type { Domain } from '../../metering/rows.ts';

const HOUR_MS = 3_600_000;

export function computed(domain: Domain, context: Context): Promise<ComputedMetrics> {
  const { services, memory } = context;
  const key = JSON.stringify([domain, ...reachOf(context)]);
  const call: Asked['call'] = (method, input) => context.call(method, input);
  return measured(domain, key, { services, memory, call, seesProcess: seesProcess(context) });
}

/** The metrics of the whole memory and its server, whatever the caller sees: for the checks of compliance. */
export function computedForChecks(
  domain: Domain,
  { services, memory, requestId, deadlineMs }: Pick<Context, 'services' | 'memory' | 'requestId' | 'deadlineMs'>,
): Promise<ComputedMetrics> {
  const system = { memory: memory.number, actor: SYSTEM_ACTOR, owns: true as const, requestId, deadlineMs };
  const call: Asked['call'] = (method, input) => services.shards.call(method, system, input);
  return measured(domain, JSON.stringify([domain, memory.number, 'checks']), {
    services,
    memory,
    call,
    seesProcess: true,
  });
}

/** A memory, and how to ask it. */
interface Asked extends Pick<Context, 'services' | 'memory'> {
  readonly call: <M extends 'measureOps' | 'measureIntel' | 'compareSamples'>(
    method: M,
    input: Input<M>,
  ) => Promise<Output<M>>;
  readonly seesProcess: boolean;
}

function measured(domain: Domain, key: string, asked: Asked): Promise<ComputedMetrics> {
  return asked.services.metering.of(key, () => (domain === 'ops' ? measuredOps(asked) : measuredIntel(asked)));
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

function hasVectors({ services: { embedders }, memory }: Asked): boolean {
  return embedders.status(memory.vectorBackend ?? '').state !== 'none';
}

async function measuredOps(asked: Asked): Promise<ReturnType<typeof opsRows>> {
  const shards = await asked.call('measureOps', {});
  const { windows } = asked.services.metering;
  return opsRows({
    windows,
    shards,
    seesProcess: asked.seesProcess,
    hasVectors: hasVectors(asked),
    hooks: hookTally(asked),
    imports: asked.services.imports.tally(asked.memory),
  });
}

/** The deliveries of the last 24 hours, in whole hours. */
function hookTally({ services: { hooks, deliveries, clock }, memory }: Asked): HookTally {
  const sinceHour = Math.floor(clock.nowMs() / HOUR_MS) - 24;
  const webhooks = hooks.of(memory).filter(({ url }) => url !== undefined);
  const hours = webhooks.flatMap((hook) => deliveries.stateOf(hook).hours).filter(([hour]) => hour > sinceHour);
  return {
    webhooks: webhooks.length,
    delivered: hours.reduce((sum, [, delivered]) => sum + delivered, 0),
    dead: hours.reduce((sum, [, , dead]) => sum + dead, 0),
  };
}

async function measuredIntel(asked: Asked): Promise<ReturnType<typeof intelRows>> {
  const counts = await asked.call('measureIntel', {});
  const comparison = await asked.call('compareSamples', {
    identities: counts.sample.flatMap(({ identity }) => (identity === undefined ? [] : [identity])),
    beliefs: counts.beliefSample,
    names: counts.sample.flatMap(({ oldName }) => (oldName === undefined ? [] : [oldName])),
  });
  const extractions = asked.services.extractions.backlogOf(asked.memory.number);
  return intelRows({ counts, comparison, hasVectors: hasVectors(asked), extractions });
}
