// Runs stages over grains in memory: those of set operations, and those of a recall that the store did not run.
import { unreachable } from '../../base/assert.ts';
import type { Extractor } from '../../calls/cal.ts';
import type { ProjectPart } from '../ast.ts';
import { fieldValue } from '../output/fields.ts';
import type { CalGrain } from '../output/grain.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { atMost } from './cap.ts';
import { compareCodePoints, ordered } from './order.ts';
import { orderOf, type PlainStage } from './page.ts';
import { groupKey } from './repeats.ts';

export interface Group {
  readonly key: string;
  readonly count: number;
  readonly grains: readonly CalGrain[];
}

/** The result of a statement with recalls. */
export type Outcome = {
  /** Matches before any limit. */
  readonly total: number;
  /**
   * `subject`: by the subject of ABOUT. `fallback`: nothing has that subject, so texts were searched for its words.
   * `query`: the same under the rules of the specification.
   */
  readonly about?: 'subject' | 'query' | 'fallback' | undefined;
  /** True if a search examined only its best candidates: `total` and `count` are then lower bounds. */
  readonly isLeast?: boolean | undefined;
  /** Fields to show; undefined: all. */
  readonly select?: readonly string[] | undefined;
  readonly project?: readonly ProjectPart[] | undefined;
} & (
  | { readonly kind: 'grains'; readonly grains: readonly CalGrain[] }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'values'; readonly extractor: Extractor; readonly values: readonly string[] }
  | { readonly kind: 'groups'; readonly field: string; readonly groups: readonly Group[] }
);

export type GrainOutcome = Extract<Outcome, { kind: 'grains' }>;

export interface StageBounds {
  readonly uncut: boolean;
  readonly recallMax: number | null;
  /** True if values are extracted from all grains, regardless of the default limit. */
  readonly isWhole?: boolean | undefined;
  /** True if the grains go into another statement, which has its own limit. */
  readonly isOperand?: boolean | undefined;
}

/**
 * Runs the stages in order. The validator has checked that each takes the result of the one before. `uncut`: no limit
 * has been applied yet. The result has at most `recallMax` grains, grains in groups, or grains whose values are
 * extracted. An operand has no such bound, because the statement that uses it has one.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one case for each kind of stage
export function runStages(
  start: GrainOutcome,
  stages: readonly PlainStage[],
  { uncut, recallMax, isWhole = false, isOperand = false }: StageBounds,
): Outcome {
  let outcome = start as Outcome; // Later outcomes have other kinds.
  let isCut = !uncut;
  for (const stage of stages) {
    if (outcome.kind !== 'grains') {
      if (stage.stage === 'limit' && outcome.kind === 'values')
        outcome = { ...outcome, values: outcome.values.slice(0, stage.count) };
      if (stage.stage === 'count' && outcome.kind === 'values')
        outcome = { kind: 'count', total: outcome.total, count: outcome.values.length };
      continue;
    }
    const { grains } = outcome;
    switch (stage.stage) {
      case 'order_by':
        outcome = { ...outcome, grains: ordered(orderOf(stage), grains) };
        break;
      case 'limit':
        outcome = { ...outcome, grains: grains.slice(0, stage.count) };
        isCut = true;
        break;
      case 'first':
        outcome = { ...outcome, grains: grains.slice(0, 1) };
        isCut = true;
        break;
      case 'offset':
        outcome = { ...outcome, grains: grains.slice(stage.count) };
        break;
      case 'select':
        outcome = { ...outcome, select: stage.fields.map(({ word }) => word) };
        break;
      case 'project':
        outcome = { ...outcome, project: stage.parts };
        break;
      case 'count':
        outcome = {
          kind: 'count',
          total: outcome.total,
          count: grains.length,
          isLeast: outcome.isLeast,
        };
        break;
      case 'group_by':
        outcome = {
          kind: 'groups',
          total: outcome.total,
          field: stage.field.word,
          groups: grouped(grains, stage.field.word, recallMax),
        };
        break;
      case 'subjects':
      case 'objects':
      case 'hashes': {
        const isAll = isCut || isWhole;
        const most = isAll ? grains.length : CAL_LIMITS.limitDefault;
        const source = grains.slice(0, isOperand ? most : atMost(recallMax, most));
        outcome = {
          kind: 'values',
          total: outcome.total,
          extractor: stage.stage,
          values: extracted(source, stage.stage),
        };
        break;
      }
      default:
        unreachable(stage);
    }
  }
  if (outcome.kind !== 'grains') return outcome;
  if (isOperand) return outcome;
  const most = atMost(recallMax, isCut ? outcome.grains.length : CAL_LIMITS.limitDefault);
  return outcome.grains.length > most ? { ...outcome, grains: outcome.grains.slice(0, most) } : outcome;
}

/** Distinct strings in order of first occurrence. */
export function extracted(grains: readonly CalGrain[], extractor: Extractor): string[] {
  const values = new Set<string>();
  for (const grain of grains) {
    const value = extractedFrom(grain, extractor);
    if (value !== undefined) values.add(value);
  }
  return [...values];
}

/** The values that an extractor takes from a grain. */
export function extractedFrom(grain: CalGrain, extractor: Extractor): string | undefined {
  if (extractor === 'hashes') return `sha256:${grain.hash}`;
  const value = fieldValue(grain, extractor === 'subjects' ? 'subject' : 'object');
  return typeof value === 'string' ? value : undefined;
}

/**
 * Groups by key, in code point order. Grains without the field belong to no group. Each group shows its first grains.
 */
function grouped(grains: readonly CalGrain[], field: string, recallMax: number | null): Group[] {
  const groups = new Map<string, CalGrain[]>();
  for (const grain of grains) {
    const value = fieldValue(grain, field);
    if (value === undefined) continue;
    const key = groupKey(field, value);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [grain]);
    else members.push(grain);
  }
  let room = atMost(recallMax, CAL_LIMITS.limitMax);
  return [...groups]
    .sort(([a], [b]) => compareCodePoints(a, b))
    .map(([key, members]) => {
      const shown = members.slice(0, Math.min(room, CAL_LIMITS.limitDefault));
      room -= shown.length;
      return { key, count: members.length, grains: shown };
    });
}
