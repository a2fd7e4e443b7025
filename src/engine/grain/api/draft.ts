// A draft: the grain that the fields of one request build up.

import type { GrainType } from '../grain.ts';
import { setOwn, type ValueMap } from '../value.ts';
import { cleanFree, cleanText, FIELD_DEPTH } from './free.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { outOfRange } from './refusal.ts';

/** The context of a write, besides its fields. */
export interface ApiContext {
  readonly nowMs: number;
  /** The data subject that the caller is; the default of a consent's `user_id`. */
  readonly userId?: string | undefined;
  /** This deployment's DID; the default of a consent's `grantee_did`. */
  readonly deploymentDid?: string | undefined;
  /** True for the server's own writes, which may set an action's execution environment. */
  readonly trusted?: boolean | undefined;
}

export interface Draft {
  readonly type: GrainType;
  readonly input: JsonObject;
  readonly context: ApiContext;
  /** The grain's fields: full names of the format, times in milliseconds. */
  readonly fields: ValueMap;
  /** Entries of the field `extra_fields`; undefined while there are none. */
  extras: ValueMap | undefined;
  readonly warnings: string[];
  verificationStatus: string | undefined;
}

/**
 * A field unknown to the format that holds extra fields whose names the format uses differently, such as `type`, or
 * `category` as a free word. Answers show them at the top level, where the caller put them.
 */
export const EXTRA_FIELDS = 'extra_fields';

export function startDraft(type: GrainType, input: JsonObject, context: ApiContext): Draft {
  return { type, input, context, fields: {}, extras: undefined, warnings: [], verificationStatus: undefined };
}

/** Keeps a value in `extra_fields`, because the format uses its name differently. */
export function keepAside(draft: Draft, value: JsonValue, name: string): void {
  draft.extras ??= {};
  setOwn(draft.extras, name, cleanFree(value, name, FIELD_DEPTH + 1));
}

/** Stores an extra field, whose name the format does not know, unchanged. Throws VAL-E001 for a repeated name. */
export function keepExtra(map: ValueMap, value: JsonValue, name: string, depth: number): void {
  const clean = cleanText(name, 'a field name');
  if (Object.hasOwn(map, clean)) throw outOfRange(clean, 'occurs twice: two names are equal in NFC');
  setOwn(map, clean, cleanFree(value, clean, depth));
}

/** True when the draft has the field, or lists it as elided, which counts as present. */
export function isPresent(draft: Draft, name: string): boolean {
  if (draft.fields[name] !== undefined) return true;
  const elided = draft.fields['_elided'];
  // The kind of `_elided` guarantees a map of strings.
  return elided !== undefined && Object.hasOwn(elided as ValueMap, name);
}
