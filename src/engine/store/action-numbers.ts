// Columns of the index for goals and actions, besides their listed fields: ranks, outcomes, durations, and the task of an
// action. A session is summed up from these without opening its grains.
import { defined } from '../base/defined.ts';
import type { Grain } from '../grain/grain.ts';
import type { Value } from '../grain/value.ts';
import { fieldKey, type IndexedGrain } from '../index/parts/part.ts';
import { phaseOf, type Shown, shownFields } from './indexed-fields.ts';
import type { Memory } from './memory.ts';

/**
 * The column `outcome`: the part of a call that an action records. A grain may hold a whole call, or only its start (`called`) or
 * its end (`returned`, `raised`), which name the call by the same id. These numbers are on the disk.
 */
export const OUTCOMES = { succeeded: 0, failed: 1, called: 2, returned: 3, raised: 4 } as const;

/** Actions that are a call: an end alone belongs to a call that another grain holds. */
export function isCall(outcome: number): boolean {
  return outcome === OUTCOMES.succeeded || outcome === OUTCOMES.failed || outcome === OUTCOMES.called;
}

export function isFailure(outcome: number): boolean {
  return outcome === OUTCOMES.failed || outcome === OUTCOMES.raised;
}

export function isSuccess(outcome: number): boolean {
  return outcome === OUTCOMES.succeeded || outcome === OUTCOMES.returned;
}

/** The rank of the middle word, which a goal without a priority has. */
export const PRIORITY_RANK_MEDIUM = 3;
const PRIORITY_RANK_LAST = 4;

type Indexed = Pick<Grain, 'type' | 'fields'>;

/** The rank of a goal, 1 (critical) to 4 (low). Another number, as imported goals may have it, counts as medium. */
export function priorityRank({ type, fields }: Indexed): Pick<IndexedGrain['numbers'], 'priority'> {
  if (type !== 'goal') return {};
  const stored = fields['priority'];
  const isRank = typeof stored === 'number' && stored >= 1 && stored <= PRIORITY_RANK_LAST;
  return { priority: isRank ? stored : PRIORITY_RANK_MEDIUM };
}

/** The columns of an action; none for the definition of a tool. */
export function actionNumbers(
  memory: Pick<Memory, 'numberOf'>,
  grain: Indexed,
): Pick<IndexedGrain['numbers'], 'outcome' | 'tool' | 'error' | 'durationMs'> {
  if (grain.type !== 'action') return {};
  const shown = shownFields(grain);
  const phase = phaseOf(shown);
  if (phase === 'definition') return {};
  const isError = shown('is_error') === true;
  const duration = shown('duration_ms');
  return defined({
    outcome: outcomeOf(phase, isError),
    tool: memory.numberOf(toolOf(shown)),
    error: isError ? memory.numberOf(errorOf(shown)) : undefined,
    durationMs: typeof duration === 'number' && duration >= 0 ? duration : undefined,
  });
}

function outcomeOf(phase: Value | undefined, isError: boolean): number {
  if (phase === 'call') return OUTCOMES.called;
  if (phase === 'result') return isError ? OUTCOMES.raised : OUTCOMES.returned;
  return isError ? OUTCOMES.failed : OUTCOMES.succeeded;
}

/** The name that answers give to an action without one. */
const TOOL_UNKNOWN = 'unknown';

/** The tool's name, from the fields of a grain or of an answer. */
export function toolOf(shown: (name: string) => unknown): string {
  const name = shown('tool_name');
  return typeof name === 'string' && name !== '' ? name : TOOL_UNKNOWN;
}

/** Characters of an error that distinguish patterns. */
const ERROR_CHARS_MAX = 200;
/** Where a failed action may say why, in the order of trust. */
const ERROR_FIELDS = ['error', 'failure_detail', 'failure_cause', 'content'];

/** Why an action failed, cut to the part that is counted. */
export function errorOf(shown: (name: string) => unknown): string {
  for (const name of ERROR_FIELDS) {
    const value = shown(name);
    if (typeof value === 'string' && value.trim() !== '') return value.trim().slice(0, ERROR_CHARS_MAX);
  }
  return TOOL_UNKNOWN;
}

const CALL_KEY_FIELDS = ['parent_task_id', 'tool_call_id'] as const;

const NO_KEYS: readonly string[] = [];

/** The values of facet `call`: by them the actions of a task and of a call are found. */
export function callKeys(grain: Indexed): readonly string[] {
  if (grain.type !== 'action') return NO_KEYS;
  const shown: Shown = shownFields(grain);
  return CALL_KEY_FIELDS.flatMap((name) => {
    const value = shown(name);
    return typeof value === 'string' && value !== '' ? [fieldKey(name, value)] : [];
  });
}
