// Schemas and checks for input texts other than a grain's fields, which the engine checks.
import { Type } from './type.ts';

/** Schema of a string without NUL and without half surrogate pairs, which the contract forbids in every text. */
export function plainText(bounds: { readonly minLength?: number; readonly maxLength: number }) {
  return Type.String({ ...bounds, pattern: '^[^\\u0000\\ud800-\\udfff]*$' });
}

const LANGUAGES = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/** True for an ISO 639-1 code: two letters that name a language. */
export function isLanguage(code: string): boolean {
  return /^[a-z]{2}$/.test(code) && LANGUAGES.of(code) !== undefined;
}
