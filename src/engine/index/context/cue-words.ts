// The words that make the cues of a text. The patterns define the cues. Searching for them tries each alternative at each
// character, which was a sixth of the work of storing a long text. So the words are hashed as the text is read, and a
// pattern is tried only where one of its words is.

// `may` and `march` count as months only in a clear context; `second`, `sat` and `sun` are left out.
const MONTHS = 'january|february|april|june|july|august|september|october|november|december';
const MONTHS_SHORT = 'jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|may|march';
const WEEKDAYS = 'monday|tuesday|wednesday|thursday|friday|saturday|sunday';
const UNITS = 'seconds|minutes?|hours?|days?|weeks?|weekends?|months?|quarters?|years?|decades?';
const PARTS_OF_TIME = `night|morning|afternoon|evening|spring|summer|autumn|fall|winter|${UNITS}`;
const MOMENTS = 'yesterday|today|tonight|tomorrow|ago|noon|midnight|nowadays|recently';
// Each alternative begins at the beginning of a word, or at a digit before a month.
const TIME = [
  `\\b(?:${MONTHS}|${WEEKDAYS})s?\\b`,
  `\\b(?:${MONTHS_SHORT})\\.? \\d`,
  `\\d(?:st|nd|rd|th)?(?: of)? (?:${MONTHS_SHORT})\\b`,
  '\\b(?:in|on|by|of|since|until|till|last|next|this|during|early|late|mid) (?:may|march)\\b',
  `\\b(?:${MOMENTS}|o[’']clock)\\b`,
  `\\b(?:last|next|this|past|previous|coming|every|each) (?:${PARTS_OF_TIME})\\b`,
  `\\b(?:\\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|few|several|couple of)[ -](?:${UNITS})\\b`,
  '\\b(?:19|20)\\d\\d\\b',
  '\\b\\d{1,2}[/.]\\d{1,2}[/.]\\d{2,4}\\b',
  '\\b\\d{1,2}(?::\\d\\d)? ?[ap]\\.?m\\b',
  '\\b[0-2]?\\d:[0-5]\\d\\b',
].join('|');

const MINE = 'my|me|mine|myself|we|our|ours|ourselves';
const I = '\\bI\\b|(?<=^|[\\s"“(])i[\'’ ][a-z]';

/** The patterns as a search would use them: the test compares `wordCues` with them. */
export const SEARCHED = {
  holdsTime: [new RegExp(TIME, 'i')],
  speaksOfSelf: [new RegExp(I), new RegExp(`\\b(?:${MINE})\\b`, 'i')],
} as const;

const TIME_HERE = new RegExp(TIME, 'iy');
const I_HERE = new RegExp(I, 'y');
const MINE_HERE = new RegExp(`(?:${MINE})\\b`, 'iy');

/** True when a time begins at `start`; false for -1. */
export function timeBegins(text: string, start: number): boolean {
  return start >= 0 && matches(TIME_HERE, text, start);
}

/** True when the word that begins at `start` is one of the first person. */
export function selfBegins(text: string, start: number): boolean {
  return matches(MINE_HERE, text, start) || matches(I_HERE, text, start);
}

function matches(pattern: RegExp, text: string, start: number): boolean {
  pattern.lastIndex = start;
  return pattern.test(text);
}

/** Kinds of words. A time begins with the word, or with one of the two before it. */
export const BEGINS_TIME = 1;
export const ENDS_TIME = 2;
export const OF_TIME = BEGINS_TIME | ENDS_TIME;
export const OF_SELF = 4;

/** Code of the digit 9. Digits are the lowest of the letters. */
export const NINE = 57;

/** The letters of words as the patterns have them, lower-case; 0 for other characters. */
const LETTERS = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code);
  if (/\w/.test(character)) LETTERS[code] = character.toLowerCase().charCodeAt(0);
}

export function foldedLetter(code: number): number {
  return code < 128 ? LETTERS[code]! : 0;
}

const SLOTS = 4_096;
const KINDS = new Uint8Array(SLOTS);

/** Kinds of the words with this hash. Words may share a slot, so a pattern decides. */
export function kindOf(hash: number): number {
  return KINDS[hash & (SLOTS - 1)]!;
}

function enter(words: string, kind: number): void {
  for (const word of words.split('|').flatMap(formsOf)) {
    let hash = 0;
    for (let at = 0; at < word.length; at++) hash = Math.imul(hash, 31) + word.charCodeAt(at);
    KINDS[hash & (SLOTS - 1)]! |= kind;
  }
}

/** The words that a pattern with one optional letter stands for. */
function formsOf(pattern: string): string[] {
  return pattern.includes('?') ? [pattern.replace(/.\?/, ''), pattern.replace('?', '')] : [pattern];
}

for (const name of `${MONTHS}|${WEEKDAYS}`.split('|')) enter(`${name}s?`, BEGINS_TIME);
enter(`${MONTHS_SHORT}|${MOMENTS}|o`, BEGINS_TIME);
enter(`${PARTS_OF_TIME}|may|march`, ENDS_TIME);
enter(`${MINE}|i`, OF_SELF);
