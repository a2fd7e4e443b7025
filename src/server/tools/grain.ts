// A grain as a model is shown it: hash, type, time, and the fields that say something, each cut to a bound.
import { TOOL_TEXT_CHARS_MAX } from '../../engine/base/limits.ts';
import { setJson, stringifyJson } from '../../engine/grain/api/json.ts';
import { SOURCE_USERS } from '../../engine/grain/api/source-users.ts';
import type { GrainView, JsonObject, JsonValue } from '../../shards/protocol.ts';

/** Fields that say nothing about the matter, or that `grainForModel` shows in another form. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'namespace',
  'user_id',
  'created_at',
  'temporal_type',
  'embedding_text',
  'content_refs',
  'embedding_refs',
  'provenance_chain',
  'invalidation_policy',
  'token_usage',
  'content_blocks',
  'model_id',
  'parent_message_id',
  'session_id',
  'run_id',
  'stop_reason',
  'tool_call_id',
  'duration_ms',
  'source_type',
  SOURCE_USERS,
]);

export function grainForModel({ hash, grainType, fields, createdAt }: GrainView): JsonObject {
  const shown: JsonObject = { hash, type: grainType, date: new Date(createdAt * 1_000).toISOString() };
  let left = TOOL_TEXT_CHARS_MAX;
  for (const [name, value] of Object.entries(fields)) {
    if (LEFT_OUT.has(name) || isEmpty(value) || (name === 'confidence' && value === 1)) continue;
    const text = stringifyJson(value);
    if (text.length <= left) setJson(shown, name, value);
    else if (left > 0)
      setJson(shown, name, `${(typeof value === 'string' ? value : text).slice(0, left).toWellFormed()}…`);
    left -= text.length;
  }
  return shown;
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
