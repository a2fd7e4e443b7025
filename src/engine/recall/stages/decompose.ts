// Splits a question into its parts by rules. A question that no rule matches stays whole.

/** Maximum number of parts. */
export const PARTS_MAX = 8;
const TEXT_CHARS_READ = 2_048;
const PART_WORDS_MIN = 2;
const ITEM_WORDS_MAX = 4;

export type SplitRule = 'questions' | 'comparison' | 'list' | 'conjunction';

export interface Split {
  readonly rule: SplitRule;
  readonly parts: readonly string[];
  /** Number of parts beyond the limit. */
  readonly left: number;
}

/** Between two and `limit` parts, by the first rule that matches; undefined if none does. */
export function splitQuery(text: string, limit: number = PARTS_MAX): Split | undefined {
  const whole = text.slice(0, TEXT_CHARS_READ).replace(/\s+/g, ' ').trim();
  for (const [rule, split] of RULES) {
    const parts = [
      ...new Set(
        split(whole)
          .map(trimmed)
          .filter((part) => part !== ''),
      ),
    ];
    if (parts.length >= 2) return { rule, parts: parts.slice(0, limit), left: Math.max(0, parts.length - limit) };
  }
  return undefined;
}

const RULES: readonly (readonly [SplitRule, (text: string) => string[]])[] = [
  ['questions', questions],
  ['comparison', comparison],
  ['list', list],
  ['conjunction', conjunction],
];

/** "Who …? Where …?", and numbered or bulleted questions. */
function questions(text: string): string[] {
  const parts = text.split(/(?<=\?)\s+|\s*(?:^|\s)(?:\d{1,2}[.)]|[-*•])\s+/);
  return parts.filter((part) => /\p{L}/u.test(part));
}

/** "compare A and B", "the difference between A and B", "A vs B", "is A better than B": one part for each side. */
function comparison(text: string): string[] {
  const between =
    /^(?<before>.*?)\b(?:differences? between|compare|comparing|comparison (?:of|between))\s+(?<first>.+?)\s+(?:and|with|to|versus|vs\.?|against)\s+(?<second>.+)$/i.exec(
      text,
    );
  if (between?.groups !== undefined) return [between.groups['first']!, between.groups['second']!];
  const against = /^(?<first>.+?)\s+(?:versus|vs\.?)\s+(?<second>.+)$/i.exec(text);
  if (against?.groups !== undefined) return [against.groups['first']!, against.groups['second']!];
  const than =
    /^(?<first>.+?)\s+(?:more|less|fewer|better|worse|older|younger|[\p{L}]+er)(?:\s+[\p{L}]+){0,2}?\s+than\s+(?<second>.+)$/iu.exec(
      text,
    );
  return than?.groups === undefined ? [] : [than.groups['first']!, than.groups['second']!];
}

/** "… of A, B and C": each with the words before the list. */
function list(text: string): string[] {
  const found =
    /^(?<stem>.+\b(?:of|about|for|with|by|from|in|between|are|is|do|did|does)\s+)(?<items>[^?,]+,[^?]+)\??$/i.exec(
      text,
    );
  if (found?.groups === undefined) return [];
  const { stem = '', items = '' } = found.groups;
  const all = items.split(/,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+/i);
  // A longer item is a clause, not a list item.
  return all.every((item) => item.split(' ').length <= ITEM_WORDS_MAX) ? all.map((item) => stem + item) : [];
}

/** "What … and where …", "… and did he …": clauses that could be asked alone. */
function conjunction(text: string): string[] {
  const clauses = text.split(
    /,?\s+(?:and(?: also| then)?|as well as|but also|or)\s+(?=(?:who|what|when|where|why|which|whose|how|is|are|was|were|did|do|does|has|have|can|could|will|would|should)\b)/i,
  );
  if (clauses.length >= 2) return clauses.every((clause) => clause.split(' ').length >= PART_WORDS_MIN) ? clauses : [];
  // Two names that share one question.
  const pair =
    /^(?<before>.*?)(?<first>\p{Lu}[\p{L}'’-]*)\s+(?:and|or)\s+(?<second>\p{Lu}[\p{L}'’-]*)(?<after>.*)$/u.exec(text);
  if (pair?.groups === undefined) return [];
  const { before, first, second, after } = pair.groups;
  return [`${before}${first}${after}`, `${before}${second}${after}`];
}

function trimmed(part: string): string {
  return part.replace(/^[\s,;:.-]+|[\s,;:.?!-]+$/g, '');
}
