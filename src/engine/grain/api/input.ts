// Converts a request's fields to a grain's fields. Only this step translates the service's names, times and defaults to the
// grain format; the codec fills in nothing.
import { EngineError } from '../../base/errors.ts';
import { GRAIN_FIELDS_MAX } from '../../base/limits.ts';
import { typeByString } from '../codec/field-map.ts';
import type { GrainType, Sensitivity } from '../grain.ts';
import type { ValueMap } from '../value.ts';
import { complete } from './complete.ts';
import { type ApiContext, type Draft, EXTRA_FIELDS, keepExtra, startDraft } from './draft.ts';
import { putsOf } from './fields.ts';
import { FIELD_DEPTH } from './free.ts';
import type { JsonObject } from './json-value.ts';
import { COMMON_NAMES } from './names.ts';
import { invalidType, outOfRange } from './refusal.ts';
import { isMap } from './take.ts';

export type { ApiContext } from './draft.ts';

/** A grain in the form that `encodeGrain` needs. */
export interface ApiGrain {
  readonly type: GrainType;
  /** Full names of the format, times in milliseconds, `created_at` and `namespace` filled, all text in NFC. */
  readonly fields: ValueMap;
  /** For the index layer; not part of the blob. */
  readonly verificationStatus?: string | undefined;
  readonly sensitivity?: Sensitivity | undefined;
  readonly warnings: string[];
}

/** The grain type of a name; `fact` means belief and `tool` action. Throws MEM-E005 for an unknown name. */
export function grainTypeOf(name: string): GrainType {
  const spec = typeByString(name);
  if (spec === undefined)
    throw new EngineError('MEM-E005', undefined, { details: [{ field: 'grain_type', issue: 'unknown' }] });
  return spec.type;
}

/**
 * Converts the fields of an API request (snake_case, seconds; `null` means absent) to a grain of the type. Pure: the time
 * comes from `context`. The result may share values with `fields`, which must not change afterwards.
 *
 * Throws EngineError: MEM-E005 for an unknown type, VAL-E003 for a missing or mistyped field, VAL-E001 for a value out
 * of range or a name that is a short key of the format; `details` name the field. The codec accepts every result unless
 * its blob is too large (ERR_TOO_LARGE).
 */
export function fromApi(grainType: string, fields: JsonObject, context: ApiContext): ApiGrain {
  const draft = startDraft(grainTypeOf(grainType), fields, context);
  if (!isMap(fields)) throw invalidType('fields', fields, 'a map');
  let count = 0;
  for (const _ in fields) count += 1;
  if (count > GRAIN_FIELDS_MAX) throw outOfRange('fields', `holds more than ${GRAIN_FIELDS_MAX} fields`);
  if (draft.type === 'state' && isAbsent(fields, 'data') && isAbsent(fields, 'context_data')) takeState(draft);
  else takeFields(draft);
  complete(draft);
  if (draft.extras !== undefined) draft.fields[EXTRA_FIELDS] = draft.extras;
  const { type, warnings, verificationStatus } = draft;
  return verificationStatus === undefined
    ? { type, fields: draft.fields, warnings }
    : { type, fields: draft.fields, warnings, verificationStatus };
}

function isAbsent(fields: JsonObject, name: string): boolean {
  return fields[name] === undefined || fields[name] === null;
}

function takeFields(draft: Draft): void {
  const { input, type, fields } = draft;
  const puts = putsOf(type);
  for (const name in input) {
    const value = input[name];
    if (value === null || value === undefined) continue;
    const put = puts.get(name);
    if (put === undefined) keepExtra(fields, value, name, FIELD_DEPTH);
    else put(draft, value, name);
  }
}

/** Takes a state without `data`: every field that is not a common one becomes part of the snapshot. */
function takeState(draft: Draft): void {
  const puts = putsOf('state');
  const data: ValueMap = {};
  for (const name in draft.input) {
    const value = draft.input[name];
    if (value === null || value === undefined) continue;
    const put = COMMON_NAMES.has(name) ? puts.get(name) : undefined;
    if (put === undefined) keepExtra(data, value, name, FIELD_DEPTH + 1);
    else put(draft, value, name);
  }
  draft.fields['context'] = data;
}
