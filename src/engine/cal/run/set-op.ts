// Runs UNION, INTERSECT and EXCEPT over the results of their operands.

import { ask } from '../../asking/asking.ts';
import { unreachable } from '../../base/assert.ts';
import type { Recall, SetOperation, Stage } from '../ast.ts';
import { CalError } from '../errors.ts';
import type { CalGrain } from '../output/grain.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { bounds, charge } from './bounds.ts';
import { checkWritten } from './cap.ts';
import { calGrain } from './grain-of.ts';
import { BY_HASH, byScore } from './order.ts';
import { pageOf } from './page.ts';
import { isStrict, limitsOf, type Purpose, paged, plainStages, runRecall, warnOfCut } from './recall.ts';
import type { Running } from './running.ts';
import type { Run } from './session.ts';
import { type Outcome, runStages } from './stages.ts';
import { together } from './together.ts';

/** Runs each operand completely, then merges by address. In strict mode each operand has its default limit. */
export function* runSetOperation(operation: SetOperation, run: Run, purpose: Purpose = 'answer'): Running<Outcome> {
  checkWritten(operation, run);
  const merged = yield* mergedOf(operation, run);
  const stages = plainStages(operation.stages, run);
  const total = merged.length;
  const { recallMax } = run;
  if (isStrict(run))
    return runStages({ kind: 'grains', grains: yield* loaded(merged, run), total }, stages, {
      uncut: false,
      recallMax,
    });
  const page = pageOf({}, stages, recallMax, limitsOf(run, purpose));
  if (page.countsOnly) {
    const left = Math.max(0, total - page.skip);
    return { kind: 'count', total, count: Math.min(left, page.take ?? left) };
  }
  const isPrefix = page.order === undefined && page.take !== undefined;
  if (isPrefix) {
    const grains = yield* loaded(merged.slice(0, page.skip + page.take), run);
    return paged({ kind: 'grains', grains, total }, page, run, purpose);
  }
  const most = CAL_LIMITS.grainsHeldMax;
  if (total > most) warnOfCut(run, most);
  const grains = yield* loaded(merged.slice(0, most), run);
  const isOperand = purpose !== 'answer';
  return runStages({ kind: 'grains', grains, total }, stages, { uncut: true, recallMax, isWhole: true, isOperand });
}

/** A grain of a set. Only its address may be known yet. */
interface Member {
  readonly hash: string;
  readonly score: number;
  readonly grain?: CalGrain | undefined;
}

/** Best first, then by address. */
function* mergedOf({ operator, operands }: SetOperation, run: Run): Running<readonly Member[]> {
  const sets: (readonly Member[])[] = [];
  for (const ended of yield* together(operands.map((operand) => membersOf(operand, run)))) {
    if ('error' in ended) throw ended.error;
    sets.push(ended.value);
  }
  const [first = [], ...others] = sets;
  return byScore(others.reduce((left, right) => merge(operator, left, right), first));
}

/** Stages that do not change a set, only its order and presentation. */
const OF_SHOWING: ReadonlySet<Stage['stage']> = new Set(['select', 'order_by', 'project']);

function* membersOf(operand: Recall | SetOperation, run: Run): Running<readonly Member[]> {
  const isWhole = !isStrict(run) && operand.stages.every(({ stage }) => OF_SHOWING.has(stage));
  if (operand.kind === 'set_op' && isWhole) {
    checkWritten(operand, run);
    return yield* mergedOf(operand, run);
  }
  const outcome =
    operand.kind === 'recall'
      ? yield* runRecall(operand, run, 'addresses')
      : yield* runSetOperation(operand, run, 'addresses');
  if (outcome.kind === 'values')
    return outcome.values.map((value) => ({ hash: value.slice('sha256:'.length), score: 1 }));
  if (outcome.kind === 'grains')
    return outcome.grains.map((grain) => ({ hash: grain.hash, score: grain.score, grain }));
  throw new CalError('CAL-E021', 'an operand of a set operation must return grains', { at: operand.at });
}

/** Fetches the members' grains in order, without grains that are gone. */
function* loaded(members: readonly Member[], run: Run): Running<readonly CalGrain[]> {
  const addresses = members.flatMap(({ hash, grain }) => (grain === undefined ? [hash] : []));
  const known = new Map<string, CalGrain>();
  if (addresses.length > 0) {
    const selected = yield* ask('select', {
      filter: { addresses, includeSuperseded: true },
      tests: [],
      ...bounds(run),
      order: BY_HASH,
      take: addresses.length,
    });
    charge(run, selected);
    for (const view of selected.grains) known.set(view.hash, calGrain(view, 1));
  }
  return members.flatMap(({ hash, score, grain }) => {
    const one = grain ?? known.get(hash);
    return one === undefined ? [] : [{ ...one, score }];
  });
}

function merge(
  operator: SetOperation['operator'],
  left: readonly Member[],
  right: readonly Member[],
): readonly Member[] {
  const scores = new Map(right.map((grain) => [grain.hash, grain.score]));
  switch (operator) {
    case 'union': {
      const known = new Set(left.map(({ hash }) => hash));
      const both = left.map((member) => ({
        ...member,
        score: Math.max(member.score, scores.get(member.hash) ?? member.score),
      }));
      return [...both, ...right.filter(({ hash }) => !known.has(hash))];
    }
    case 'intersect':
      return left.flatMap((grain) => {
        const score = scores.get(grain.hash);
        return score === undefined ? [] : [{ ...grain, score: Math.min(grain.score, score) }];
      });
    case 'except':
      return left.filter(({ hash }) => !scores.has(hash));
    default:
      return unreachable(operator);
  }
}
