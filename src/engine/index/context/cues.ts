// Turn flags of an event's text: it asks, it names a time, it speaks of its speaker, it begins with a name (spec:
// ranking of text, section 2). All are linear in the text's length. They know English, and numbers in any language;
// other languages get fewer flags.

/** Characters and words of a name before a colon. */
const NAME_CHARS_MAX = 40;
const NAME_WORDS_MAX = 4;

/** Whether the text has a question mark, the Arabic and the fullwidth one included. */
export function asks(text: string): boolean {
  return /[?？؟]/u.test(text);
}

// `may` and `march` count as months only in a clear context; `second`, `sat` and `sun` are left out.
const MONTHS = 'january|february|april|june|july|august|september|october|november|december';
const MONTHS_SHORT = 'jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec';
const WEEKDAYS = 'monday|tuesday|wednesday|thursday|friday|saturday|sunday';
const UNITS = 'seconds|minutes?|hours?|days?|weeks?|weekends?|months?|quarters?|years?|decades?';
const TIME_WORDS = new RegExp(
  [
    `\\b(?:${MONTHS}|${WEEKDAYS})s?\\b`,
    `\\b(?:${MONTHS_SHORT}|may|march)\\.? \\d`,
    `\\d(?:st|nd|rd|th)?(?: of)? (?:${MONTHS_SHORT}|may|march)\\b`,
    '\\b(?:in|on|by|of|since|until|till|last|next|this|during|early|late|mid) (?:may|march)\\b',
    "\\b(?:yesterday|today|tonight|tomorrow|ago|noon|midnight|nowadays|recently|o[’']clock)\\b",
    `\\b(?:last|next|this|past|previous|coming|every|each) (?:night|morning|afternoon|evening|spring|summer|autumn|fall|winter|${UNITS})\\b`,
    `\\b(?:\\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|few|several|couple of)[ -](?:${UNITS})\\b`,
    '\\b(?:19|20)\\d\\d\\b',
    '\\b\\d{1,2}[/.]\\d{1,2}[/.]\\d{2,4}\\b',
    '\\b\\d{1,2}(?::\\d\\d)? ?[ap]\\.?m\\b',
    '\\b[0-2]?\\d:[0-5]\\d\\b',
  ].join('|'),
  'i',
);

/** Whether the text has a date, a month, a weekday, a time of day, or a word such as `yesterday` and `ago`. */
export function holdsTime(text: string): boolean {
  return TIME_WORDS.test(text);
}

const ASKS_TIME =
  /^\s*when\b|\b(?:since|until|till|by|and|or|tell me|know|remember|say|said) when\b|\bwhen(?:['’]s| exactly)?,? (?:did|do|does|was|were|is|are|am|will|would|should|shall|can|could|have|has|had)\b|\b(?:what|which) (?:\w+ )?(?:time|date|dates|day|days|week|weekday|month|months|year|years|season|deadline)\b|\bhow (?:long|old|recently|soon|often)\b|\bhow (?:many|much) (?:more )?(?:seconds|minutes|hours|days|weeks|months|years|time)\b/i;

/** Whether a question asks for a time: when, which day, how long. */
export function asksForTime(question: string): boolean {
  return ASKS_TIME.test(question);
}

const I = /\bI\b|(?:^|[\s"“(])i['’ ][a-z]/;
const MINE = /\b(?:my|me|mine|myself|we|our|ours|ourselves)\b/i;

/**
 * Whether the text uses the first person, singular or plural. A lower-case i counts only as a word of a sentence,
 * because code is full of them.
 */
export function speaksOfSelf(text: string): boolean {
  return I.test(text) || MINE.test(text);
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
