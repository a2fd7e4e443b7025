// The form in which texts are compared with guardrails: texts that look alike have the same form.
import { toNfkc } from '../../base/nfc.ts';
import { skeleton } from './confusables.ts';

export interface Form {
  /** Without accents, case, width, invisible characters and look-alikes; single blanks. */
  readonly written: string;
  /** Words alone: punctuation becomes a blank. */
  readonly words: string;
  /** Words alone, with punctuation inside a word removed. */
  readonly joined: string;
}

const ASCII = /^[\0-\x7f]*$/;
/** Format characters and fillers. They are invisible and could break up a pattern. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/**
 * Marks over and under letters of any script, Hebrew and Arabic points included. Signs of Indic scripts and of kana
 * count as letters.
 */
const MARKS =
  /(?![\u3099\u309a])[\p{Script=Inherited}\u0591-\u05bd\u05bf-\u05c7\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/gu;
/** Braille's blank has the category of a symbol. */
const BLANKS = /[\s\u2800]+/g;
const PUNCTUATION = /[\p{P}`^~<>+=|$\s]+/gu;
const ASCII_PUNCTUATION = /[!-/:-@[-`{-~\s]+/g;
const INNER = /(?<=[\p{L}\p{N}])[\p{P}`^~<>+=|$]+(?=[\p{L}\p{N}])/gu;
const ASCII_INNER = /(?<=[a-z0-9])[!-/:-@[-`{-~]+(?=[a-z0-9])/g;

export function formOf(text: string): Form {
  const ascii = ASCII.test(text);
  const plain = ascii ? text : withoutMarks(toNfkc(text).replace(INVISIBLE, ''));
  const lower = skeleton(plain.toLowerCase(), ascii).replace(BLANKS, ' ').trim();
  const words = lower.replace(ascii ? ASCII_PUNCTUATION : PUNCTUATION, ' ').trim();
  if (words === lower) return { written: lower, words, joined: words };
  const joined = lower
    .replace(ascii ? ASCII_INNER : INNER, '')
    .replace(ascii ? ASCII_PUNCTUATION : PUNCTUATION, ' ')
    .trim();
  return { written: lower, words, joined };
}

// Marks that stand alone are removed first. Composed letters have few marks, so decomposing them is cheap.
function withoutMarks(text: string): string {
  return text.replace(MARKS, '').normalize('NFD').replace(MARKS, '').normalize('NFC');
}
