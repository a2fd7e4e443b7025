// The persons whose records a text was written from, beside the person that it belongs to. A model that is shown records
// of several persons may quote any of them, so what it writes names them, and is hidden and removed with each of them.
import { EXTRA_FIELDS } from './draft.ts';

/** Name of the field, as answers show it. */
export const SOURCE_USERS = 'source_users';

/** Distinct ids, in their order. Empty for a value that is no list of texts, and for a grain without the field. */
export function sourceUsersOf(fields: object): readonly string[] {
  const extras: unknown = Reflect.get(fields, EXTRA_FIELDS);
  const own: unknown = Reflect.get(fields, SOURCE_USERS);
  const value: unknown =
    own === undefined && typeof extras === 'object' && extras !== null ? Reflect.get(extras, SOURCE_USERS) : own;
  if (!Array.isArray(value)) return NOBODY;
  return [...new Set(value.filter((id): id is string => typeof id === 'string' && id !== ''))];
}

const NOBODY: readonly string[] = [];
