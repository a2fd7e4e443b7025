// Scripts without spaces. Chinese, Japanese and Korean are cut into overlapping pairs of characters, whatever the
// memory's language: a dictionary would split names, pairs never miss one. In Thai, Lao, Khmer and Burmese single
// characters mean too little, so the dictionary of Intl.Segmenter cuts words.

/** Regular expression class bodies, for the `v` flag. */
export const BIGRAM_CLASS = String.raw`[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}]&&[\p{L}\p{N}]]`;
export const DICTIONARY_CLASS = String.raw`[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]`;

/** Calls `emit` with each pair of adjacent characters of a run, or with its only character. */
export function eachBigram(run: string, emit: (bigram: string) => void): void {
  let start = 0;
  let middle = nextCodePoint(run, 0);
  if (middle >= run.length) {
    emit(run);
    return;
  }
  while (middle < run.length) {
    const end = nextCodePoint(run, middle);
    emit(run.slice(start, end));
    start = middle;
    middle = end;
  }
}

function nextCodePoint(text: string, index: number): number {
  return index + (text.codePointAt(index)! > 0xffff ? 2 : 1);
}

let segmenter: Intl.Segmenter | undefined;

/** Calls `emit` with each word of a run in a script that needs a dictionary. */
export function eachDictionaryWord(run: string, emit: (word: string) => void): void {
  segmenter ??= new Intl.Segmenter('th', { granularity: 'word' });
  for (const piece of segmenter.segment(run)) if (piece.isWordLike === true) emit(piece.segment);
}
