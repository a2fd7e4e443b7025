// A grain in the making: what the fields of one request have become so far.

import type { GrainType } from '../grain.ts';
import { setOwn, type ValueMap } from '../value.ts';
import { cleanFree, cleanText, FIELD_DEPTH } from './free.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { outOfRange } from './refusal.ts';

/** What is known of a write besides its fields. */
export interface ApiContext {
  readonly nowMs: number;
  /** The data subject that the caller's identity stands for; fills a consent's `user_id`. */
  readonly userId?: string;
  /** This deployment's own DID; fills a consent's `grantee_did`. */
  readonly deploymentDid?: string;
  /** True for writes of the server itself: what it says of an action's execution environment is believed. */
  readonly trusted?: boolean;
}

export interface Draft {
  readonly type: GrainType;
  readonly input: JsonObject;
  readonly context: ApiContext;
  /** Full names of the format, milliseconds. */
  readonly fields: ValueMap;
  /** What goes into the unknown field `extra_fields`, once there is any. */
  extras: ValueMap | undefined;
  readonly warnings: string[];
  verificationStatus: string | undefined;
}

/**
 * The unknown field that keeps, as a map, extra fields which the format would take for something else: `category` as
 * a word, `deadline` as a text, `type`. An answer shows them where the caller put them.
 */
export const EXTRA_FIELDS = 'extra_fields';

export function startDraft(type: GrainType, input: JsonObject, context: ApiContext): Draft {
  return { type, input, context, fields: {}, extras: undefined, warnings: [], verificationStatus: undefined };
}

/** Keeps a value as it is under a name that the format has another use for. */
export function keepAside(draft: Draft, value: JsonValue, name: string): void {
  draft.extras ??= {};
  setOwn(draft.extras, name, cleanFree(value, name, FIELD_DEPTH + 1));
}

/** Keeps an extra field, whose name the format does not know, as it is. */
export function keepExtra(map: ValueMap, value: JsonValue, name: string, depth: number): void {
  const clean = cleanText(name, 'a field name');
  if (Object.hasOwn(map, clean)) throw outOfRange(clean, 'is there twice: two names are one in NFC');
  setOwn(map, clean, cleanFree(value, clean, depth));
}

/** True when the field is in the draft, or was taken out of a disclosed view and so counts as present. */
export function isPresent(draft: Draft, name: string): boolean {
  if (draft.fields[name] !== undefined) return true;
  const elided = draft.fields['_elided'];
  // `_elided` was taken by its kind: a map of strings.
  return elided !== undefined && Object.hasOwn(elided as ValueMap, name);
}
