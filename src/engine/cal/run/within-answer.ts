// Fits an answer into its maximum size: cuts lists that are too large to their first members and adds a warning.

import { ANSWER_BYTES_MAX } from '../../base/limits.ts';
import { AnswerRoom } from '../../grain/api/answer-room.ts';
import { stringifyJson, stringifyWithin } from '../../grain/api/json.ts';
import type { JsonObject, JsonValue } from '../../grain/api/json-value.ts';
import { calWarning } from '../errors.ts';

/** Texts up to the first length always stay, such as names and numbers. Texts are cut to the second length. */
const SHORT_CHARS_MAX = 1_024;
const TEXT_CHARS_MAX = ANSWER_BYTES_MAX / 4;

export interface Written {
  readonly json: string;
  /** Set if something was left out. */
  readonly warning?: string | undefined;
}

/** The answer as JSON within the maximum size. */
export function written(answer: JsonObject): Written {
  const whole = textOf(answer);
  if (whole !== undefined) return { json: whole };
  const cut = shortened(answer, new AnswerRoom());
  const warning = calWarning(
    'CAL-W007',
    `the answer ends at ${ANSWER_BYTES_MAX / 1_048_576} MiB: continue with OFFSET`,
  );
  return { json: stringifyJson(cut), warning };
}

/** Undefined if the text exceeds an answer or the longest possible string. */
function textOf(answer: JsonObject): string | undefined {
  try {
    return stringifyWithin(answer, ANSWER_BYTES_MAX);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Cuts lists and long texts to the room that all parts of the answer share. Objects that hold lists, such as groups and
 * results of a batch, are kept and cut inside.
 */
function shortened(value: JsonValue, room: AnswerRoom): JsonValue {
  if (typeof value === 'string')
    return value.length <= SHORT_CHARS_MAX || room.takes(value) ? value.slice(0, TEXT_CHARS_MAX) : '';
  if (Array.isArray(value)) {
    const kept: JsonValue[] = [];
    for (const item of value) {
      if (holdsLists(item)) kept.push(shortened(item, room));
      else if (room.takes(item)) kept.push(item);
      else break;
    }
    return kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member, room)]));
}

/** True for an object that holds lists or objects, except a grain. A grain is kept whole or dropped. */
function holdsLists(item: JsonValue): boolean {
  if (typeof item !== 'object' || item === null || Array.isArray(item) || 'fields' in item) return false;
  return Object.values(item).some((member) => typeof member === 'object' && member !== null);
}
