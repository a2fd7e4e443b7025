// Forgets the grains of a subject that has many, in several groups, so that other requests of the shard have their turn.
// Every grain is checked before the first one is removed. If the process ends in between, the rest is left; the caller got no
// answer then, and repeats the request.
import { FORGET_ROUND_GRAINS } from '../base/limits.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Store } from '../store/store.ts';
import { type Found, forgetTargets, ordinalsOfSubject, planForget, type Target, type Wanted } from './forget.ts';
import type { WritePlan } from './job.ts';
import { known } from './plans.ts';
import { planPreviewOf } from './preview-removal.ts';
import type { WriteQueue } from './queue.ts';

type Input = MemoryCalls['forget']['input'];
type Output = MemoryCalls['forget']['output'];

/** The ordinals that the request may concern, if they are too many for one group. */
export function manyToForget(store: Store, context: CallContext, { subject }: Wanted): Ordinal[] | undefined {
  if (subject === undefined || !store.holds(context.memory)) return undefined;
  const ordinals = ordinalsOfSubject(store, store.memory(context.memory), subject);
  return ordinals.length > FORGET_ROUND_GRAINS ? ordinals : undefined;
}

export async function forgetInRounds(
  queue: WriteQueue,
  context: CallContext,
  input: Input,
  ordinals: readonly Ordinal[],
): Promise<Output> {
  const before = await queue.push('forget', answeredBefore, context, input);
  if (before !== undefined) return before;
  const { idempotency: _, ...unkeyed } = context;
  const found = await findInRounds(queue, 'forget', unkeyed, input, ordinals);
  if (input.check) return { hashes: found.targets.map(({ address }) => address), notFound: found.notFound };
  // From here on the caller's deadline must not leave a part of the grains.
  const { deadlineMs: __, ...unhurried } = unkeyed;
  const hashes: string[] = [];
  for (const some of roundsOf(found.targets.map(({ ordinal }) => ordinal))) {
    const removed = await queue.push('forget', removeRound, unhurried, { ...input, hashes: undefined, ordinals: some });
    for (const hash of removed.hashes) hashes.push(hash);
  }
  return queue.push('forget', storeAnswer, { ...context, deadlineMs: undefined }, { hashes, notFound: found.notFound });
}

/** Finds in rounds the grains that a forget would remove. */
export async function previewInRounds(
  queue: WriteQueue,
  context: CallContext,
  input: Extract<MemoryCalls['previewRemoval']['input'], { readonly of: 'grains' }>,
  ordinals: readonly Ordinal[],
): Promise<MemoryCalls['previewRemoval']['output']> {
  const found = await findInRounds(queue, 'previewRemoval', context, input, ordinals);
  return queue.push('previewRemoval', previewFound, context, found);
}

async function findInRounds(
  queue: WriteQueue,
  method: string,
  context: CallContext,
  { hashes, subject, userId }: Wanted,
  ordinals: readonly Ordinal[],
): Promise<Found> {
  const targets = new Map<Ordinal, Target>();
  let missing: readonly string[] | undefined;
  for (const some of roundsOf(ordinals)) {
    // The hashes are at most as many as a batch has, and are looked for with the first grains of the subject.
    const wanted = { hashes: missing === undefined ? hashes : undefined, subject, userId, ordinals: some };
    const found = await queue.push(method, findRound, context, wanted);
    for (const target of found.targets) targets.set(target.ordinal, target);
    missing ??= found.notFound;
    // A round that changes nothing is answered without a turn of the loop.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { targets: [...targets.values()], notFound: missing ?? [] };
}

function* roundsOf(ordinals: readonly Ordinal[]): Generator<readonly Ordinal[]> {
  for (let at = 0; at < ordinals.length; at += FORGET_ROUND_GRAINS) yield ordinals.slice(at, at + FORGET_ROUND_GRAINS);
}

/** The stored answer to an earlier request with this idempotency key. */
const answeredBefore: WritePlan<Input, Output | undefined> = {
  reply: { isKept: () => false },
  plan: () => undefined,
};

const findRound: WritePlan<Wanted, Found> = {
  settled: true,
  plan: (group, memory, context, wanted) => forgetTargets(group, known(memory), context, wanted),
};

const removeRound: WritePlan<Wanted, Output> = {
  settled: true,
  plan: (group, memory, context, wanted) => planForget(group, known(memory), context, { ...wanted, check: false }),
};

/** Stores the answer under the call's idempotency key. */
const storeAnswer: WritePlan<Output, Output> = { plan: (_group, _memory, _context, output) => output };

const previewFound: WritePlan<Found, MemoryCalls['previewRemoval']['output']> = {
  settled: true,
  plan: (group, memory, context, found) => planPreviewOf(group, known(memory), context, found),
};
