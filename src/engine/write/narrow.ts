// Limits the writes of a bound or narrowed caller to its namespace and its user.

import { EngineError } from '../base/errors.ts';
import { toNfc } from '../base/nfc.ts';
import type { CallContext } from '../calls/context.ts';
import type { JsonObject } from '../grain/api/json-value.ts';

/** The fields of a new grain with the binding filled in. AUT-E001 when they name another namespace or user. */
export function bindFields(context: CallContext, fields: JsonObject): JsonObject {
  if (context.namespace === undefined && context.userId === undefined) return fields;
  const bound = { ...fields };
  bind(bound, 'namespace', context.namespace);
  bind(bound, 'user_id', context.userId);
  return bound;
}

function bind(fields: JsonObject, name: string, value: string | undefined): void {
  if (value === undefined) return;
  const given = fields[name];
  const named = typeof given === 'string' ? toNfc(given) : given;
  if (named !== undefined && named !== null && named !== value)
    throw new EngineError('AUT-E001', `this caller may only write grains with its own ${name}`, {
      details: [{ field: name, issue: 'outside the binding' }],
    });
  fields[name] = value;
}
