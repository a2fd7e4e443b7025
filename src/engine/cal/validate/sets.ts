// Checks set operations, BATCH and COALESCE.

import type { GrainType } from '../../grain/grain.ts';
import type { Batch, Coalesce, Recall, SetOperation } from '../ast.ts';
import { CalError } from '../errors.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { checkRecall, typeOf } from './recall.ts';
import type { Scope } from './scope.ts';
import { checkStages, expectGrains, type Outcome } from './stages.ts';

/** Throws E002, E007, E013, E021 and the errors of recalls and stages. */
export function checkSetOperation(operation: SetOperation, scope: Scope): Outcome {
  const operands = leaves(operation, 1);
  if (operands.length > CAL_LIMITS.setOperandsMax)
    throw new CalError('CAL-E013', `${operands.length} operands; the limit is ${CAL_LIMITS.setOperandsMax}`, {
      at: operands[CAL_LIMITS.setOperandsMax]?.at,
    });
  return checkOperation(operation, scope).outcome;
}

/** The recalls of an operation, left to right. */
function leaves({ operands, at }: SetOperation, depth: number): readonly Recall[] {
  if (depth > CAL_LIMITS.setDepthMax)
    throw new CalError('CAL-E007', `set operations are nested more than ${CAL_LIMITS.setDepthMax} deep`, { at });
  return operands.flatMap((operand) => (operand.kind === 'recall' ? [operand] : leaves(operand, depth + 1)));
}

interface Checked {
  readonly outcome: Outcome;
  /** The type that all operands share; undefined if they differ. Stages may use its fields. */
  readonly type: GrainType | undefined;
}

function checkOperation({ operator, operands, stages, at }: SetOperation, scope: Scope): Checked {
  if (operands.length < 2)
    throw new CalError('CAL-E002', `${operator.toUpperCase()} needs two or more operands`, {
      at,
      expected: ['an operand'],
    });
  const types = new Set<GrainType | undefined>();
  for (const operand of operands) {
    const { outcome, type } =
      operand.kind === 'recall'
        ? { outcome: checkRecall(operand, scope), type: typeOf(operand) }
        : checkOperation(operand, scope);
    expectGrains(outcome, `${operator.toUpperCase()} joins grains`, operand.at);
    if (operand.kind === 'recall' && operand.format !== undefined)
      throw new CalError('CAL-E021', `${operator.toUpperCase()} joins grains, but an operand has a format`, {
        at: operand.format.at,
      });
    types.add(type);
  }
  const type = types.size === 1 ? [...types][0] : undefined;
  return { outcome: checkStages(stages, { type, scope }), type };
}

/** Throws E002, E039, E021 and the errors of recalls. */
export function checkCoalesce({ branches, at }: Coalesce, scope: Scope): void {
  const { coalesceBranchesMin, coalesceBranchesMax } = CAL_LIMITS;
  if (branches.length < coalesceBranchesMin)
    throw new CalError('CAL-E002', `COALESCE needs at least ${coalesceBranchesMin} branches`, {
      at,
      expected: [', RECALL'],
    });
  if (branches.length > coalesceBranchesMax)
    throw new CalError('CAL-E039', `COALESCE has ${branches.length} branches; the limit is ${coalesceBranchesMax}`, {
      at: branches[coalesceBranchesMax]?.at,
    });
  for (const branch of branches)
    expectGrains(checkRecall(branch, scope), 'a branch of COALESCE gives grains', branch.at);
}

/** Checks only the labels and their number. Throws E002, E012, E034. */
export function checkBatchEntries({ entries, at }: Batch): void {
  if (entries.length === 0) throw new CalError('CAL-E002', 'BATCH has no entry', { at, expected: ['a label'] });
  if (entries.length > CAL_LIMITS.batchEntriesMax)
    throw new CalError('CAL-E012', `BATCH has ${entries.length} entries; the limit is ${CAL_LIMITS.batchEntriesMax}`, {
      at: entries[CAL_LIMITS.batchEntriesMax]?.label.at,
    });
  const seen = new Set<string>();
  for (const { label } of entries) {
    if (seen.has(label.word))
      throw new CalError('CAL-E034', `two entries have the label ${label.word}`, { at: label.at });
    seen.add(label.word);
  }
}
