// A grain as a part of a context: the fields that a reader needs, as JSON and as a line of text. Fields that only the
// store needs, and defaults, are left out.
import type { GrainView } from '../calls/grain.ts';
import type { ContextPiece } from '../calls/session.ts';
import { stringifyJson } from '../grain/api/json.ts';
import type { JsonObject, JsonValue } from '../grain/api/json-value.ts';
import { rankOf } from './goals-of.ts';

type Kind = ContextPiece['kind'];

/** Fields that a context shows of a grain, in the order in which they are read. */
const FIELDS: Readonly<Record<Exclude<Kind, 'goal'>, readonly string[]>> = {
  action: ['tool_name', 'input', 'content', 'is_error', 'error', 'failure_detail', 'status', 'duration_ms'],
  belief: ['subject', 'relation', 'object', 'confidence'],
};
const GOAL_FIELDS = [
  'description',
  'goal_state',
  'priority',
  'criteria',
  'progress',
  'state_reason',
  'delegate_to',
  'deadline',
];
/** Values that say nothing, because a reader assumes them. */
const ASSUMED: Readonly<Record<string, JsonValue>> = { confidence: 1, is_error: false };

export function pieceOf(kind: Kind, view: GrainView, value: number): ContextPiece {
  const { hash, fields, createdAt, createdAtMs } = view;
  const place = { kind, hash, createdAtMs, value, rank: kind === 'goal' ? rankOf(view) : 0 };
  if (kind === 'goal') {
    const goal = chosen(fields, GOAL_FIELDS);
    return measured(place, { hash, ...goal, created_at: createdAt }, goalLine(goal));
  }
  const shown = chosen(fields, FIELDS[kind]);
  const line = kind === 'action' ? actionLine(shown) : beliefLine(shown);
  return measured(place, { hash, fields: shown, created_at: createdAt }, line);
}

/** Measured here, in a worker, since the main thread chooses among the pieces of all partitions. */
function measured(place: Omit<ContextPiece, 'body' | 'line' | 'chars'>, body: JsonObject, line: string): ContextPiece {
  return { ...place, body, line, chars: { json: stringifyJson(body).length + 1, text: line.length + 1 } };
}

function chosen(fields: JsonObject, names: readonly string[]): JsonObject {
  const shown: JsonObject = {};
  for (const name of names) {
    const value = fields[name];
    if (value === undefined || isNothing(value) || value === ASSUMED[name]) continue;
    shown[name] = value;
  }
  return shown;
}

/** An action without an input has an empty one. */
function isNothing(value: JsonValue): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

function goalLine({ description, goal_state: state, priority, criteria, progress, state_reason: reason }: JsonObject) {
  const marks = [textOf(priority ?? 'medium'), ...(state === undefined || state === 'active' ? [] : [textOf(state)])];
  const done = typeof progress === 'number' ? ` (${Math.round(progress * 100)} % done)` : '';
  const until = criteria === undefined ? '' : `; reached when: ${textOf(criteria)}`;
  const why = reason === undefined ? '' : `; ${textOf(reason)}`;
  return `- [${marks.join(', ')}] ${textOf(description)}${done}${until}${why}`;
}

function actionLine({ tool_name: tool, input, content, is_error: isError, error, failure_detail, status }: JsonObject) {
  const call = `${textOf(tool ?? 'unknown')}(${input === undefined ? '' : shortened(textOf(input))})`;
  if (isError === true)
    return `- ${call} failed: ${shortened(textOf(error ?? failure_detail ?? content ?? 'unknown'))}`;
  if (content !== undefined) return `- ${call}: ${shortened(textOf(content))}`;
  return `- ${call}${status === 'pending' ? ' has not ended' : ''}`;
}

function beliefLine({ subject, relation, object, confidence }: JsonObject) {
  const doubt = typeof confidence === 'number' ? ` (confidence ${confidence})` : '';
  return `- ${textOf(subject)} ${textOf(relation)} ${textOf(object)}${doubt}`;
}

/** On one line, so that a text cannot pass for another line of the page. */
export function textOf(value: JsonValue | undefined): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : stringifyJson(value);
  return text.replace(/\s+/g, ' ').trim();
}

/** Characters of an input or an output in a line. The JSON form has all of it. */
const LINE_TEXT_MAX = 500;

function shortened(text: string): string {
  return text.length <= LINE_TEXT_MAX ? text : `${text.slice(0, LINE_TEXT_MAX - 1)}…`;
}
