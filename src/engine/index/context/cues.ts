// Turn flags of an event's text: it asks, it names a time, it speaks of its speaker, it begins with a name (spec:
// ranking of text, section 2). All are linear in the text's length. They know English, and numbers in any language;
// other languages get fewer flags.
import {
  BEGINS_TIME,
  ENDS_TIME,
  foldedLetter,
  kindOf,
  NINE,
  OF_SELF,
  OF_TIME,
  selfBegins,
  timeBegins,
} from './cue-words.ts';

/** Characters and words of a name before a colon. */
const NAME_CHARS_MAX = 40;
const NAME_WORDS_MAX = 4;

/** Whether the text has a question mark, the Arabic and the fullwidth one included. */
export function asks(text: string): boolean {
  return text.includes('?') || text.includes('？') || text.includes('؟');
}

/** Cues in the words of a text about its time and its speaker. */
export interface WordCues {
  /** The text has a date, a month, a weekday, a time of day, or a word such as `yesterday` and `ago`. */
  readonly holdsTime: boolean;
  /**
   * The text uses the first person, singular or plural. A lower-case i counts only as a word of a sentence, because code
   * is full of them.
   */
  readonly speaksOfSelf: boolean;
}

/** Every text that is stored is read by this: see cue-words.ts. */
export function wordCues(text: string): WordCues {
  const { length } = text;
  let holdsTime = false;
  let speaksOfSelf = false;
  // Where the last two words began.
  let last = -1;
  let lastButOne = -1;
  let at = 0;
  while (at < length) {
    let letter = foldedLetter(text.charCodeAt(at));
    if (letter === 0) {
      at += 1;
      continue;
    }
    const start = at;
    let digit = -1;
    let hash = 0;
    do {
      if (letter <= NINE) digit = at;
      hash = Math.imul(hash, 31) + letter;
      at += 1;
      letter = at < length ? foldedLetter(text.charCodeAt(at)) : 0;
    } while (letter !== 0);
    const kind = kindOf(hash);
    if (!speaksOfSelf && (kind & OF_SELF) !== 0) speaksOfSelf = selfBegins(text, start);
    if (!holdsTime && (digit !== -1 || (kind & OF_TIME) !== 0))
      holdsTime =
        (digit !== -1 && (timeBegins(text, start) || timeBegins(text, digit))) ||
        ((kind & BEGINS_TIME) !== 0 && timeBegins(text, start)) ||
        ((kind & ENDS_TIME) !== 0 && (timeBegins(text, last) || timeBegins(text, lastButOne)));
    if (holdsTime && speaksOfSelf) break;
    lastButOne = last;
    last = start;
  }
  return { holdsTime, speaksOfSelf };
}

/** The name in a leading `Name: `, as written; undefined if there is none. */
export function leadingName(text: string): string | undefined {
  const head = text.slice(0, NAME_CHARS_MAX + 2);
  const colon = head.indexOf(':');
  if (colon < 1 || !/^\s/.test(head.slice(colon + 1, colon + 2))) return undefined;
  const name = head.slice(0, colon);
  if (!/^\p{L}/u.test(name) || /[\r\n]/.test(name)) return undefined;
  return name.trim().split(/\s+/u).length <= NAME_WORDS_MAX ? name.trim() : undefined;
}
