// Requests with their answers, applied to the model: an answer equals the model's, and a request without one took effect
// or did not.

import { EngineError } from '../../src/engine/base/errors.ts';
import type { AddOutcome } from '../../src/engine/calls/grain.ts';
import type { Output } from '../../src/shards/protocol.ts';
import { Discrepancy, type Outcome, outcomeOf, plain, plainCode, same } from './compare.ts';
import { isCurrent, type ModelGrain } from './grain.ts';
import type { ExpectedProof, ModelMemory } from './memory.ts';
import { describe, type RequestOf, type WriteRequest } from './request.ts';

export interface Exchange {
  readonly request: WriteRequest;
  readonly answer: Outcome;
}

export const isStorage = (code: string): boolean => code.startsWith('STO-');

/** The answer to one item of a batch, as if it were a request. */
export function itemAnswer(one: AddOutcome): Outcome {
  if ('error' in one) {
    const code = plainCode(one.error.code);
    return isStorage(code) ? { kind: 'storage' } : { kind: 'error', code };
  }
  const { grainType: _, ...value } = one;
  return { kind: 'value', value };
}

/**
 * Applies an answered request to the model and compares the answers. `isWhole`: false for an answer that has only some of its
 * members. Returns false when both refused it.
 */
export function apply(model: ModelMemory, { request, answer }: Exchange, isWhole = true): boolean {
  const { method, context, input } = request;
  // The union ties the method to its input.
  const expected = outcomeOf(() => model.call(method, context, input as never));
  const what = describe(request);
  if (answer.kind !== 'value' || expected.kind !== 'value') {
    same(answer, expected, what);
    return false;
  }
  const { value } = answer;
  if (method === 'eraseUser') checkProof(model, value as Output<'eraseUser'>, expected.value as never, what);
  else same(plain(method, value), plain(method, isWhole ? expected.value : partOf(expected.value, value)), what);
  return true;
}

/** Those members of the first object that the second one has. */
export function partOf(whole: unknown, part: unknown): unknown {
  const members = new Map(Object.entries(whole as object));
  return Object.fromEntries(Object.keys(part as object).map((name) => [name, members.get(name)]));
}

export function checkProof(model: ModelMemory, actual: Output<'eraseUser'>, expected: ExpectedProof, what: string) {
  const { keyFingerprint, auditEntryHash, ...proof } = actual;
  const { keyFingerprint: foretold, ...expectedProof } = expected;
  same(proof, expectedProof, what);
  if ((auditEntryHash === undefined) !== (keyFingerprint === ''))
    throw new Discrepancy(`the proof names the entry ${auditEntryHash} for the key ${keyFingerprint}: ${what}`);
  if (!model.tookFingerprint(expected, keyFingerprint))
    throw new Discrepancy(`the proof's fingerprint ${keyFingerprint} cannot be right (${foretold}): ${what}`);
}

/**
 * Applies an unanswered write of one grain. Undefined: the model would not make a grain. Otherwise the grain, and what
 * takes it back, for a store that does not hold it.
 */
export function tryWrite(
  model: ModelMemory,
  { method, context, input }: RequestOf<'add' | 'supersede' | 'accumulate'>,
): { readonly hash: string; readonly undo: () => void } | undefined {
  const undo = model.snapshot();
  const before = model.grains.length;
  const { kind } = outcomeOf(() => model.call(method, context, input as never));
  const made = model.grains[before];
  if (kind === 'value' && made !== undefined) return { hash: made.hash, undo };
  undo();
  return undefined;
}

/** Applies an unanswered forget, which removed all of its grains in a partition or none. `refused`: none. */
export function settleForget(
  model: ModelMemory,
  request: RequestOf<'forget'>,
  held: ReadonlySet<string>,
  refused = false,
): void {
  const { context, input } = request;
  let targets: readonly ModelGrain[];
  try {
    targets = model.forgetTargets(context, input).targets;
  } catch (error) {
    // The trail may have the refusal, also that of a check.
    if (error instanceof EngineError) return;
    throw error;
  }
  if (input.check) return;
  for (const group of Map.groupBy(targets, ({ partition }) => partition).values()) {
    const gone = group.filter(({ hash }) => !held.has(hash));
    if (gone.length > 0 && (refused || gone.length < group.length))
      throw new Discrepancy(`${gone.length} of ${group.length} grains of a partition are gone; ${describe(request)}`);
    for (const modelGrain of gone) model.remove(modelGrain);
  }
}

/** The next of concurrent new versions in the order of their chain: an answered one that replaced a current version. */
export function nextOfChain<E extends Exchange>(model: ModelMemory, exchanges: readonly E[]): E | undefined {
  return exchanges.find(({ answer }) => {
    if (answer.kind !== 'value') return false;
    const { oldHash } = answer.value as Partial<Output<'accumulate'>>;
    const old = oldHash === undefined ? undefined : model.find(oldHash);
    return old !== undefined && isCurrent(old);
  });
}
