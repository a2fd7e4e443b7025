// How texts are compared with guardrails: what looks alike is alike.
import { toNfkc } from '../../base/nfc.ts';
import { skeleton } from './confusables.ts';

export interface Form {
  /** Without accents, case, width, what is invisible, look-alikes; blanks are single. */
  readonly written: string;
  /** Words alone: punctuation is a blank. */
  readonly words: string;
  /** Words alone, where punctuation inside of one was left out. */
  readonly joined: string;
}

const ASCII = /^[\0-\x7f]*$/;
/** Format characters and fillers: they show nothing, and a pattern could be broken up with them. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** Marks over and under letters of any script; Hebrew and Arabic points too. Signs of Indian scripts and of kana are letters. */
const MARKS =
  /(?![\u3099\u309a])[\p{Script=Inherited}\u0591-\u05bd\u05bf-\u05c7\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/gu;
/** Braille's blank is a symbol by its category. */
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

// Marks that stand alone go first: composed letters have few of them, so taking those apart is soon done.
function withoutMarks(text: string): string {
  return text.replace(MARKS, '').normalize('NFD').replace(MARKS, '').normalize('NFC');
}
