// Which fields of a grain, beside those that have facets of their own, an index lists by their values: short words of few
// kinds. The values are those that answers show, so that a condition finds the same grains by the index as by looking.
import { EXTRA_FIELDS } from '../grain/api/draft.ts';
import type { Grain, GrainType } from '../grain/grain.ts';
import { isMap } from '../grain/rules/validate.ts';
import type { Value, ValueMap } from '../grain/value.ts';
import { fieldKey, NOT_TEXT } from '../index/parts/part.ts';

/** What a grain shows where nothing was written. */
const SOURCE_TYPE_DEFAULT = 'user';

const COMMON = ['source_type', 'recall_priority', 'epistemic_status'] as const;

/** The name in a blob, and the one that the index and CAL have for it. */
type FieldName = readonly [stored: string, shown: string];
const same = (...names: readonly string[]): readonly FieldName[] => names.map((name) => [name, name]);

const OF_TYPE: Readonly<Partial<Record<GrainType, readonly FieldName[]>>> = {
  event: same('role', 'model_id'),
  action: same('tool_name'),
  observation: same('observer_id', 'observer_type'),
  goal: same('goal_state', 'assigned_agent'),
  reasoning: [['inference_method', 'reasoning_type']],
};

/** The fields, by their names in CAL, whose grains facet `field` lists by their values. */
export const LISTED_FIELDS: ReadonlySet<string> = new Set([
  ...COMMON,
  ...Object.values(OF_TYPE).flatMap((names) => names.map(([, shown]) => shown)),
  'action_phase',
  'is_error',
  'consent_action',
]);

/** True for a field of that list. */
export function isListed(field: string): boolean {
  return LISTED_FIELDS.has(field);
}

/** The entries of facet `field` for a grain, none twice. */
export function fieldEntries({ type, fields }: Pick<Grain, 'type' | 'fields'>): string[] {
  const extras = fields[EXTRA_FIELDS];
  // Extra fields stand among the others where they collide with none (grain/api/output.ts).
  const shown = (name: string): Value | undefined => {
    const own = fields[name];
    return own === undefined && isMap(extras) && Object.hasOwn(extras, name) ? (extras as ValueMap)[name] : own;
  };
  const entries: string[] = [];
  for (const name of COMMON) enter(entries, name, shown(name) ?? (name === 'source_type' ? SOURCE_TYPE_DEFAULT : null));
  for (const [stored, name] of OF_TYPE[type] ?? []) enter(entries, name, shown(stored));
  if (type === 'event') enterSession(entries, shown('session_id'));
  if (type === 'action') {
    enter(entries, 'action_phase', phaseOf(shown));
    enterTruth(entries, 'is_error', shown('is_error'), ['true', 'false']);
  }
  if (type === 'consent') enterTruth(entries, 'consent_action', shown('is_withdrawal'), ['withdraw', 'grant']);
  return entries;
}

function enter(entries: string[], name: string, value: Value | undefined): void {
  if (value === undefined || value === null) return;
  if (typeof value === 'string') entries.push(fieldKey(name, value.normalize('NFC')));
  else entries.push(fieldKey(name, NOT_TEXT));
}

function enterTruth(
  entries: string[],
  name: string,
  value: Value | undefined,
  [ifTrue, ifFalse]: readonly [string, string],
): void {
  if (typeof value === 'boolean') entries.push(fieldKey(name, value ? ifTrue : ifFalse));
  else if (value !== undefined && value !== null) entries.push(fieldKey(name, NOT_TEXT));
}

/** Sessions have a facet of their own, which holds texts alone. */
function enterSession(entries: string[], value: Value | undefined): void {
  if (value === undefined || value === null || (typeof value === 'string' && value !== '')) return;
  entries.push(fieldKey('session_id', NOT_TEXT));
}

/** As answers leave it out where it follows from `kind` or `status`. */
function phaseOf(shown: (name: string) => Value | undefined): Value | undefined {
  const phase = shown('action_phase') ?? shown('tool_phase');
  const kind = shown('kind');
  const status = shown('status');
  const follows = (phase === 'definition' && kind === 'definition') || (phase === 'call' && status === 'pending');
  if (phase !== undefined && phase !== null && !follows) return phase;
  return kind === 'definition' ? 'definition' : status === 'pending' ? 'call' : 'complete';
}
