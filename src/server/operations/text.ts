// Texts of an input beside a grain's own fields, whose rules are the engine's.
import { Type } from './type.ts';

/** A string without NUL, which no text of the contract may hold. */
export function plainText(bounds: { readonly minLength?: number; readonly maxLength: number }) {
  return Type.String({ ...bounds, pattern: '^[^\\u0000]*$' });
}

const LANGUAGES = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/** True for a code of ISO 639-1: of two letters, and the name of a language. */
export function isLanguage(code: string): boolean {
  return /^[a-z]{2}$/.test(code) && LANGUAGES.of(code) !== undefined;
}
