// Writes the identities of agents to every partition, so that each can decide alone. Partition 0 decides, and lists them.
// Changes of one memory's identities run one after the other. The counts of an agent are summed over the partitions.

import { EngineError } from '../../engine/base/errors.ts';
import { TRUST_POINTS_MAX } from '../../engine/base/limits.ts';
import { counted, NO_COUNTS, type TrustCounts } from '../../engine/govern/agents/trust.ts';
import type { Input, Output } from '../protocol.ts';
import { type Fan, halfDone, valuesOf } from './fan.ts';
import type { GatherTools } from './tools.ts';

/**
 * Partition 0 gets the identity last. If the others did not all get it, none is registered yet, and a repeat completes
 * it.
 */
export function gatherRegister(
  fan: Fan,
  input: Input<'registerAgent'>,
  { turns }: Pick<GatherTools, 'turns'>,
): Promise<Output<'registerAgent'>> {
  return turns.take([turnOf(fan)], async () => {
    await fan.one(0, 'registerAgent', { ...input, check: true });
    const others = fan.repeatable();
    const settled = await Promise.allSettled(
      Array.from({ length: fan.partitions - 1 }, (_, at) =>
        others.one(at + 1, 'registerAgent', { ...input, decided: true }),
      ),
    );
    if (settled.some(({ status }) => status === 'rejected')) throw halfDone('the identity');
    return fan.one(0, 'registerAgent', input);
  });
}

/** Partition 0 knows whether there is such an agent, and answers: a repeated deactivation completes one that did not reach every partition. */
export function gatherDeactivate(
  fan: Fan,
  input: Input<'deactivateAgent'>,
  { turns }: Pick<GatherTools, 'turns'>,
): Promise<Output<'deactivateAgent'>> {
  return turns.take([turnOf(fan)], async () => {
    await fan.withoutIdempotency().one(0, 'identity', { agentId: input.agentId });
    return (await fan.everywhere('deactivateAgent', input, 'the deactivation'))[0]!;
  });
}

function turnOf({ context: { memory } }: Fan): string {
  return `agents of ${memory}`;
}

/** Numbers of `seen` for each agent. */
const SEEN = 6;

/** Sums what each agent did, and takes its identity from the first partition that has it. */
export function mergeAgents(answers: readonly Output<'agents'>[]): Output<'agents'> {
  const [first, ...others] = answers;
  if (first === undefined || others.length === 0) return first ?? { ids: [], statuses: [], createdMs: [], seen: [] };
  const ids = [...first.ids];
  const statuses = [...first.statuses];
  const createdMs = [...first.createdMs];
  const seen = [...first.seen];
  const places = new Map(ids.map((id, place) => [id, place]));
  for (const other of others)
    other.ids.forEach((id, from) => {
      const numbers = other.seen.slice(from * SEEN, (from + 1) * SEEN);
      const place = places.get(id);
      if (place === undefined) {
        places.set(id, ids.length);
        ids.push(id);
        statuses.push(other.statuses[from]!);
        createdMs.push(other.createdMs[from]!);
        seen.push(...numbers);
      } else addSeen(seen, place * SEEN, numbers);
    });
  return { ids, statuses, createdMs, seen };
}

function addSeen(seen: number[], at: number, [grains, succeeded, failed, refused, firstMs, lastMs]: number[]): void {
  [grains, succeeded, failed, refused].forEach((count, i) => {
    seen[at + i]! += count!;
  });
  seen[at + 4] = earlier(seen[at + 4]!, firstMs!);
  seen[at + 5] = Math.max(seen[at + 5]!, lastMs!);
}

/** The earlier of two times, of which 0 is none. */
function earlier(one: number, other: number): number {
  return one === 0 ? other : other === 0 ? one : Math.min(one, other);
}

/** AGT-E001 if no partition knows the agent. */
export async function gatherAgent(fan: Fan, input: Input<'agent'>): Promise<Output<'agent'>> {
  const settled = await fan.settle('agent', input);
  const known = settled.filter((result) => !(result.status === 'rejected' && isUnknown(result.reason)));
  return mergeAgent(valuesOf(known.length === 0 ? settled : known), input.limit);
}

/** The newest changes of all partitions in the order of time. */
function mergeAgent(answers: readonly Output<'agent'>[], limit: number): Output<'agent'> {
  const changes = answers.flatMap((answer) => answer.changes).sort((one, other) => one.atMs - other.atMs);
  let before = answers.reduce((sum, answer) => addCounts(sum, answer.before), NO_COUNTS);
  const left = Math.max(0, changes.length - Math.min(limit, TRUST_POINTS_MAX));
  for (const { reason } of changes.slice(0, left)) before = counted(before, reason);
  const all = answers.flatMap(({ seen }) => seen ?? []);
  const [first] = answers;
  return {
    agentId: first!.agentId,
    identity: answers.find(({ identity }) => identity !== undefined)?.identity,
    seen:
      all.length === 0
        ? null
        : {
            ...all.reduce<TrustCounts>(addCounts, NO_COUNTS),
            grains: all.reduce((sum, { grains }) => sum + grains, 0),
            firstMs: Math.min(...all.map(({ firstMs }) => firstMs)),
            lastMs: Math.max(...all.map(({ lastMs }) => lastMs)),
          },
    before,
    changes: changes.slice(left),
  };
}

function addCounts(one: TrustCounts, other: TrustCounts): TrustCounts {
  return {
    succeeded: one.succeeded + other.succeeded,
    failed: one.failed + other.failed,
    refused: one.refused + other.refused,
  };
}

function isUnknown(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'AGT-E001';
}
