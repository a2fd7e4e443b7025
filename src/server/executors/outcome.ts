// The result of a tool that ran outside the server.

import { JSON_DEPTH_MAX } from '../../engine/base/limits.ts';
import { parseJson } from '../../engine/grain/api/json.ts';
import type { FailureCause } from '../../engine/turn/turn.ts';
import type { JsonValue } from '../../shards/protocol.ts';
import { tooDeep } from '../http/json.ts';

export type ToolOutcome =
  | { readonly ok: true; readonly output: JsonValue }
  | { readonly ok: false; readonly cause: FailureCause; readonly reason: string };

/** The input of the tool. */
export interface ToolInput {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export function failure(cause: FailureCause, reason: string): ToolOutcome {
  return { ok: false, cause, reason };
}

/** The bytes as JSON if they are, else as text. */
export function outputOf(bytes: Buffer): JsonValue {
  // A grain holds no NUL, and no half of a character that a bound cut off.
  const text = bytes.toString('utf8').replaceAll('\u0000', '\ufffd');
  const trimmed = text.trim();
  if (trimmed === '') return '';
  try {
    const value = parseJson(trimmed);
    return tooDeep(value, JSON_DEPTH_MAX) ? text : value;
  } catch {
    return text;
  }
}
