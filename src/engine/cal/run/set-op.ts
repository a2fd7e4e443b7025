// UNION, INTERSECT and EXCEPT over the answers of their operands.
import { unreachable } from '../../assert.ts';
import type { Recall, SetOperation } from '../ast.ts';
import { CalError } from '../errors.ts';
import type { CalGrain } from '../output/grain.ts';
import type { Running } from './asks.ts';
import { checkWritten } from './cap.ts';
import { byScore } from './order.ts';
import { plainStages, runRecall } from './recall.ts';
import type { Run } from './session.ts';
import { type GrainOutcome, type Outcome, runStages } from './stages.ts';
import { together } from './together.ts';

/** Each operand runs by itself, under its own limits; then they are merged by address. */
export function* runSetOperation(operation: SetOperation, run: Run): Running<Outcome> {
  checkWritten(operation, run);
  const sets: (readonly CalGrain[])[] = [];
  for (const ended of yield* together(operation.operands.map((operand) => runOperand(operand, run)))) {
    if ('error' in ended) throw ended.error;
    sets.push(ended.value);
  }
  const [first = [], ...others] = sets;
  const merged = byScore(others.reduce((left, right) => merge(operation.operator, left, right), first));
  const start: GrainOutcome = { kind: 'grains', grains: merged, total: merged.length };
  // Every operand was cut by its own limit; what is left of them is shown.
  return runStages(start, plainStages(operation.stages, run), { uncut: false, recallMax: run.recallMax });
}

function* runOperand(operand: Recall | SetOperation, run: Run): Running<readonly CalGrain[]> {
  const outcome = operand.kind === 'recall' ? yield* runRecall(operand, run) : yield* runSetOperation(operand, run);
  if (outcome.kind === 'grains') return outcome.grains;
  throw new CalError('CAL-E021', 'an operand of a set operation gives grains', { at: operand.at });
}

function merge(
  operator: SetOperation['operator'],
  left: readonly CalGrain[],
  right: readonly CalGrain[],
): readonly CalGrain[] {
  const scores = new Map(right.map((grain) => [grain.hash, grain.score]));
  switch (operator) {
    case 'union': {
      const known = new Set(left.map(({ hash }) => hash));
      const both = left.map((grain) => ({
        ...grain,
        score: Math.max(grain.score, scores.get(grain.hash) ?? grain.score),
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
