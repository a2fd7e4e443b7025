// Runs CAL queries over several partitions, and CAL queries that write. The query runs on this thread; each of its
// questions is a call on the memory.

import { answerLater } from '../../engine/asking/asking.ts';
import { unreachable } from '../../engine/base/assert.ts';
import { type Clock, systemClock } from '../../engine/base/clock.ts';
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { CAL_HELD_BYTES_MAX } from '../../engine/base/limits.ts';
import { answerCal } from '../../engine/cal/run/answer.ts';
import { contestedOf, needsRivals, pairName } from '../../engine/cal/run/contested.ts';
import { mentions } from '../../engine/cal/run/field-test.ts';
import { calGrain } from '../../engine/cal/run/grain-of.ts';
import { compareCodePoints, compareKeys, keyed } from '../../engine/cal/run/order.ts';
import { withoutRepeats } from '../../engine/cal/run/repeats.ts';
import type {
  AllReads,
  Bounds,
  CalCall,
  CalReply,
  GroupView,
  PartitionAnswer,
  PartitionRead,
  Selection,
  Spoken,
  Stopped,
} from '../../engine/calls/cal.ts';
import type { CallContext, GrainView } from '../protocol.ts';
import { type CallMemory, calAnswers } from './answers.ts';
import { type Fan, valuesOf } from './fan.ts';

type Asker = Pick<CallContext, 'namespace' | 'userId' | 'deadlineMs' | 'memory' | 'actor' | 'requestId'>;

/** Runs the query on this thread. Rejects with EngineError for failures that the query did not cause. */
export async function runCal(
  call: CallMemory,
  context: Asker,
  input: CalCall,
  clock: Clock = systemClock,
): Promise<CalReply> {
  try {
    return await answerLater(answerCal(input, context, clock), calAnswers(call));
  } catch (error) {
    // A shard audits its own refusals, but the cap on recalls is enforced here. If the audit entry fails, the refusal
    // still stands.
    if (error instanceof EngineError && error.code === 'POL-E013') {
      const details = { code: error.code, operation: 'cal' };
      await call('note', { event: 'policy.enforced', details }).catch(() => undefined);
    }
    throw error;
  }
}

/** Merges the partitions' answers into the answer that a single partition with all grains would give. */
export async function gatherCalRead(fan: Fan, method: CalMethod, ask: PartitionRead): Promise<PartitionAnswer> {
  switch (ask.kind) {
    case 'select':
    case 'count':
    case 'group':
    case 'values': {
      if (!needsRivals(ask.input.tests)) break;
      const { contested, spent } = await contestedAnywhere(fan, method, ask.input);
      if (spent.stopped !== undefined) return stoppedAnswer(ask.kind, spent);
      const enriched = { ...ask, input: { ...ask.input, contested } } as PartitionRead; // kind and input still match
      return merged(enriched, await fan.all(method, enriched));
    }
    default:
      break;
  }
  const shares = ask.kind === 'values' ? await sharesOfFirst(fan, ask.input) : undefined;
  if (shares === undefined) return merged(ask, await fan.all(method, ask));
  const asked = shares.map((max) => ({ ...ask, input: { ...ask.input, max } }) as PartitionRead); // kind and input still match
  return merged(ask, valuesOf(await Promise.allSettled(asked.map((one, at) => fan.one(at, method, one)))));
}

/**
 * How many of a selection's first `max` grains by address each partition has; undefined if all are among them, or if only
 * addresses are wanted, which are cut when they are merged. Values in another order are not cut over several partitions.
 */
async function sharesOfFirst(fan: Fan, input: AllReads['values']['input']): Promise<readonly number[] | undefined> {
  const { filter, tests, scanMax, untilMs, extractor, order, max } = input;
  if (tests.length > 0 || extractor === 'hashes' || order.by !== 'hash') return undefined;
  const counting = { kind: 'count', input: { filter, tests, scanMax, untilMs } } as const;
  const { total } = added(outputs(await fan.all('calRead', counting), 'count'));
  if (total <= max) return undefined;
  const addresses = { kind: 'values', input: { ...input, extractor: 'hashes' } } as const;
  const lists = outputs(await fan.all('calScan', addresses), 'values').map(({ values }) => values);
  const shares = lists.map(() => 0);
  for (let taken = 0; taken < max; taken++) {
    let least = -1;
    for (const [at, list] of lists.entries()) {
      const hash = list[shares[at]!]?.hash;
      if (hash !== undefined && (least < 0 || hash < lists[least]![shares[least]!]!.hash)) least = at;
    }
    if (least < 0) break;
    shares[least]! += 1;
  }
  return shares;
}

type CalMethod = 'calRead' | 'calScan';

/**
 * Finds the contested pairs, whichever partitions hold their beliefs. Round one asks which pairs the selected beliefs
 * are about; round two asks each partition what it says about these pairs.
 */
async function contestedAnywhere(
  fan: Fan,
  method: CalMethod,
  { filter, tests, scanMax, untilMs }: Selection & Bounds,
): Promise<{ readonly contested: readonly string[]; readonly spent: Stopped }> {
  const bounds = { scanMax, untilMs };
  const selection = { filter, tests: tests.filter((test) => !mentions(test, 'contradicted')) };
  const spoken = outputs(await fan.all(method, { kind: 'pairs', input: { ...selection, ...bounds } }), 'pairs');
  const looked = spentOf(spoken);
  if (looked.stopped !== undefined) return { contested: [], spent: looked };
  const pairs = distinctPairs(spoken.flatMap((one) => one.pairs));
  if (pairs.length === 0) return { contested: [], spent: looked };
  const said = outputs(await fan.all(method, { kind: 'rivals', input: { pairs, ...bounds } }), 'rivals');
  return { contested: contestedOf(said.flatMap(({ stands }) => stands)), spent: spentOf(said) };
}

function distinctPairs(pairs: readonly Spoken[]): Spoken[] {
  return [...new Map(pairs.map((pair) => [pairName(pair), pair])).values()];
}

function stoppedAnswer(kind: 'select' | 'count' | 'group' | 'values', spent: Stopped): PartitionAnswer {
  const none = { total: 0, ...spent };
  switch (kind) {
    case 'select':
      return { kind, output: { grains: [], ...none } };
    case 'count':
      return { kind, output: none };
    case 'group':
      return { kind, output: { groups: [], ...none } };
    case 'values':
      return { kind, output: { values: [], isCut: false, ...none } };
    default:
      return unreachable(kind);
  }
}

function merged(ask: PartitionRead, answers: readonly PartitionAnswer[]): PartitionAnswer {
  switch (ask.kind) {
    case 'select':
      return { kind: 'select', output: mergeSelected(outputs(answers, 'select'), ask.input) };
    case 'count':
      return { kind: 'count', output: added(outputs(answers, 'count')) };
    case 'group': {
      const parts = outputs(answers, 'group');
      return { kind: 'group', output: { groups: mergeGroups(parts, ask.input.shown), ...added(parts) } };
    }
    case 'values': {
      const { order, extractor, tests, max } = ask.input;
      const parts = outputs(answers, 'values');
      const sorted = parts.flatMap(({ values }) => values).sort((a, b) => compareKeys(order, a, b));
      const first = new Map<string, (typeof sorted)[number]>();
      for (const one of sorted) if (!first.has(one.value)) first.set(one.value, one);
      const values = [...first.values()];
      // Each grain has an address of its own, so they are cut where the grains of one partition would be.
      const most = extractor === 'hashes' && tests.length === 0 ? max : values.length;
      const isCut = parts.some((part) => part.isCut) || values.length > most;
      return { kind: 'values', output: { values: values.slice(0, most), isCut, ...added(parts) } };
    }
    case 'find': {
      const hashes = new Set(outputs(answers, 'find').flatMap((one) => one.hashes));
      return { kind: 'find', output: { hashes: [...hashes].slice(0, 2) } };
    }
    case 'estimate': {
      const parts = outputs(answers, 'estimate');
      const counts = ask.input.filters.map(({ name }, i) => ({
        name,
        grains: parts.reduce((sum, part) => sum + (part.counts[i]?.grains ?? 0), 0),
      }));
      return { kind: 'estimate', output: { counts } };
    }
    case 'pairs': {
      const parts = outputs(answers, 'pairs');
      return {
        kind: 'pairs',
        output: { pairs: distinctPairs(parts.flatMap(({ pairs }) => pairs)), ...spentOf(parts) },
      };
    }
    case 'rivals': {
      const parts = outputs(answers, 'rivals');
      return { kind: 'rivals', output: { stands: parts.flatMap(({ stands }) => stands), ...spentOf(parts) } };
    }
    default:
      return unreachable(ask);
  }
}

function mergeSelected(
  parts: readonly OutputOf<'select'>[],
  { order, take, dedup, heldMax = CAL_HELD_BYTES_MAX }: AllReads['select']['input'],
): OutputOf<'select'> {
  // Count a grain that two partitions hold once.
  const distinct = new Map(parts.flatMap(({ grains }) => grains).map((view) => [view.hash, view]));
  const sorted = [...distinct.values()]
    .map((view) => ({ view, ...keyed(order, calGrain(view, 1)) }))
    .sort((a, b) => compareKeys(order, a, b))
    .map(({ view }) => view);
  const kept = dedup === undefined ? sorted : withoutRepeats(sorted, (view) => calGrain(view, 1), dedup);
  const grains = kept.slice(0, take);
  const spent = added(parts);
  const bytes = grains.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  // The partitions together hold no more than one does.
  if (spent.stopped === undefined && bytes > heldMax) return { ...spent, grains: [], stopped: 'bytes' };
  return { grains, ...spent };
}

function mergeGroups(parts: readonly OutputOf<'group'>[], shown: number): GroupView[] {
  const merged = new Map<string, { count: number; grains: GrainView[] }>();
  for (const { key, count, grains } of parts.flatMap((part) => part.groups)) {
    const group = merged.get(key);
    if (group === undefined) merged.set(key, { count, grains: [...grains] });
    else {
      group.count += count;
      group.grains.push(...grains);
    }
  }
  return [...merged]
    .sort(([a], [b]) => compareCodePoints(a, b))
    .map(([key, { count, grains }]) => ({
      key,
      count,
      grains: grains.sort((a, b) => (a.hash < b.hash ? -1 : 1)).slice(0, shown),
    }));
}

type OutputOf<K extends PartitionAnswer['kind']> = Extract<PartitionAnswer, { kind: K }>['output'];

function outputs<K extends PartitionAnswer['kind']>(answers: readonly PartitionAnswer[], kind: K): OutputOf<K>[] {
  // A partition answers a kind with that kind's output.
  return answers.flatMap((one) => (one.kind === kind ? [one.output as OutputOf<K>] : []));
}

function added(parts: readonly (Stopped & { readonly total: number })[]) {
  return { total: parts.reduce((sum, { total }) => sum + total, 0), ...spentOf(parts) };
}

function spentOf(parts: readonly Stopped[]): Stopped {
  const stopped = parts.find((part) => part.stopped !== undefined)?.stopped;
  return defined({
    scanned: parts.reduce((sum, { scanned }) => sum + scanned, 0),
    stopped,
  });
}
