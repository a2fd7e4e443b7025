// Puts the pieces of a line that has text from right to left into the order of reading. A page has them as they are seen,
// from left to right; the text within a piece is in the order of reading already. This is the last rule (L2) of the Unicode
// bidirectional algorithm read backwards, with levels that are guessed from what is seen.

export interface LinePiece {
  readonly text: string;
  /** Its left end, in points. */
  readonly x: number;
}

/** Hebrew, Arabic and their like. */
export const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const LETTER = /\p{L}/u;
const DIGIT = /\p{Nd}/u;
/** Separates the digits of a number, a date or a time. */
const SEPARATOR = /^[.,:/\u066b\u066c]$/;
/** Characters that say how a letter looks beside its neighbours. */
const SHAPES = /[\ufb1d-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]+/g;
const MIRRORED = new Map([...'()[]{}<>«»‹›'].map((char, at, all) => [char, all[at % 2 === 0 ? at + 1 : at - 1]!]));

type Kind = 'right' | 'left' | 'number' | 'neutral';

/** The text of a line. Without text from right to left it has the order of `pieces`. */
export function inReadingOrder(pieces: readonly LinePiece[]): string {
  if (!pieces.some(({ text }) => RIGHT_TO_LEFT.test(text))) return pieces.map(({ text }) => text).join('');
  const seen = pieces.filter(({ text }) => text !== '').sort((a, b) => a.x - b.x);
  const levels = levelsOf(seen);
  const read = seen.map(({ text }, at) => ({ text: levels[at] === 1 ? fromRight(text) : text, at }));
  for (let level = 1; level <= 2; level++)
    for (let end = read.length, begin = end; end > 0; end = begin) {
      const reaches = (at: number): boolean => levels[read[at]!.at]! >= level;
      for (begin = end - 1; begin > 0 && reaches(begin - 1) === reaches(end - 1); ) begin--;
      if (reaches(end - 1)) reverse(read, begin, end);
    }
  const text = read.map((piece) => piece.text).join('');
  return text.replace(SHAPES, (shapes) => shapes.normalize('NFKC'));
}

/** In place, from `begin` to before `end`: a hostile line may have any number of pieces. */
function reverse(items: unknown[], begin: number, end: number): void {
  for (let [one, other] = [begin, end - 1]; one < other; one++, other--)
    [items[one], items[other]] = [items[other], items[one]];
}

/** 0 for text from left to right, 1 for text from right to left, 2 for words and numbers of the one within the other. */
function levelsOf(seen: readonly LinePiece[]): readonly number[] {
  const kinds = seen.map(({ text }) => kindOf(text));
  for (const [at, { text }] of seen.entries())
    if (SEPARATOR.test(text) && kinds[at - 1] === 'number' && kinds[at + 1] === 'number') kinds[at] = 'number';
  const letters = (kind: Kind): number =>
    seen.reduce((sum, { text }, at) => sum + (kinds[at] === kind ? text.length : 0), 0);
  const isRight = letters('right') >= letters('left');
  const before = strongOf(kinds);
  const after = strongOf(kinds.toReversed()).toReversed();
  return kinds.map((kind, at) => {
    if (kind === 'right') return 1;
    if (kind === 'left') return isRight ? 2 : 0;
    const [one, other] = [before[at], after[at]];
    if (kind === 'number') return isRight || (one === 'right' && other === 'right') ? 2 : 0;
    if (isRight) return one === 'left' && other === 'left' ? 2 : 1;
    return one === 'right' && other === 'right' ? 1 : 0;
  });
}

function kindOf(text: string): Kind {
  if (RIGHT_TO_LEFT.test(text) && !/^[\p{Nd}\p{P}\s]+$/u.test(text)) return 'right';
  if (LETTER.test(text)) return 'left';
  return DIGIT.test(text) ? 'number' : 'neutral';
}

/** The direction of the last letters before each piece; undefined before the first ones. */
function strongOf(kinds: readonly Kind[]): readonly (Kind | undefined)[] {
  let last: Kind | undefined;
  return kinds.map((kind) => {
    const before = last;
    if (kind === 'right' || kind === 'left') last = kind;
    return before;
  });
}

/** A page shows brackets as they look, which from right to left is turned round; signs alone still have the order seen. */
function fromRight(text: string): string {
  const kind = kindOf(text);
  if (kind === 'right' && /[a-z]/i.test(text)) return text;
  const chars = Array.from(text, (char) => MIRRORED.get(char) ?? char);
  return (kind === 'neutral' ? chars.reverse() : chars).join('');
}
