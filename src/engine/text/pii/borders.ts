// Checks where a number or a code begins and ends. Called after a shape matched: a look-behind in each shape would be
// tried at every character of a text.

const LETTER = /[\p{L}\p{M}\p{N}_]/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** True when `from` to `to` is not part of a longer number, a word or a decimal. */
export function isBordered(text: string, from: number, to: number): boolean {
  if (from > 0) {
    const before = text[from - 1]!;
    if (isOfWord(before)) return false;
    if (isJoint(before) && from > 1 && isDigit(text[from - 2]!)) return false;
  }
  if (to >= text.length) return true;
  const after = text[to]!;
  if (isOfWord(after)) return false;
  return !(isJoint(after) && to + 1 < text.length && isDigit(text[to + 1]!));
}

/** Like `matchAll`, without matches inside a longer word or number. The pattern is global. */
export function* borderedMatches(text: string, pattern: RegExp): Generator<RegExpExecArray> {
  for (const match of text.matchAll(pattern))
    if (isBordered(text, match.index, match.index + match[0].length)) yield match;
}

/** Words before the dotted number of a version or a section. */
const VERSION =
  /(?:\b(?:v|ver|version|release|section|sec|build|chapter|firmware|driver|rfc|revision|rev|patch|sdk|api|node|python|java|oid|tls|to|paragraph|clause|article|kernel)|§)\.?\s*$/i;

/** True when the dotted number at `from` is a version, and so neither an address nor a person's number. */
export function isVersion(text: string, from: number): boolean {
  return VERSION.test(text.slice(Math.max(0, from - 16), from));
}

// In scripts without spaces, words touch numbers.
function isOfWord(character: string): boolean {
  const code = character.charCodeAt(0);
  if (code < 0x80) return isAsciiWord(code);
  return LETTER.test(character) && !UNSPACED.test(character);
}

function isAsciiWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
}

function isDigit(character: string): boolean {
  const code = character.charCodeAt(0);
  return code >= 48 && code <= 57;
}

function isJoint(character: string): boolean {
  return character === '-' || character === '.' || character === '/';
}
