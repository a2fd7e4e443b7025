// Unicode's forms NFC and NFKC in time that is linear in the length of the text. `String.prototype.normalize` puts combining marks in
// order by insertion: a long run of them in the wrong order takes time by its square, 10 s for 256 kB. Here such runs
// are put in order first, by sorting, so that it finds nothing to move.

/** Texts up to this, in UTF-16 units, are soon put in order whatever they hold. */
const SHORT = 512;
/** Runs up to twice this, in UTF-16 units, cost nothing worth speaking of. */
const STRIDE = 64;
const RUN = /\p{M}*/uy;
const RUNS = /\p{M}{2,}/gu;

/** `text.normalize('NFC')`. */
export function toNfc(text: string): string {
  return inOrder(text).normalize('NFC');
}

/** The letters that are combining marks in all but their category, until NFKC puts those in their place. */
const HALFWIDTH_SOUND_MARK = /[\uff9e\uff9f]/g;

/** `text.normalize('NFKC')`. */
export function toNfkc(text: string): string {
  if (text.length <= SHORT) return text.normalize('NFKC');
  const marked = text.replace(HALFWIDTH_SOUND_MARK, (letter) => (letter === '\uff9e' ? '\u3099' : '\u309a'));
  return inOrder(marked).normalize('NFKC');
}

/** The text with long runs of marks in canonical order. */
function inOrder(text: string): string {
  if (!hasLongRun(text)) return text;
  return text.replace(RUNS, (run) => (run.length < STRIDE ? run : ordered(run)));
}

/** True when marks fill the text from one multiple of the stride to the next, as they do in every run of two strides. */
function hasLongRun(text: string): boolean {
  for (let at = 0; at < text.length - STRIDE; at += STRIDE) {
    const unit = text.charCodeAt(at);
    if (unit < 0x300) continue;
    // The second half of a pair starts nothing.
    RUN.lastIndex = unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
    if (RUN.test(text) && RUN.lastIndex >= at + STRIDE) return true;
  }
  return false;
}

/** The marks of a run, decomposed and in canonical order: by class and else as they stood, between marks of class 0. */
function ordered(run: string): string {
  const decomposed = new Map<string, readonly string[]>();
  const marks: string[] = [];
  for (const mark of run) {
    let parts = decomposed.get(mark);
    if (parts === undefined) {
      parts = [...mark.normalize('NFD')];
      decomposed.set(mark, parts);
    }
    for (const part of parts) marks.push(part);
  }
  const ranks = classRanks(new Set(marks));
  const result: string[] = [];
  let moving: { readonly mark: string; readonly rank: number }[] = [];
  const flush = (): void => {
    // Sorting is stable, which keeps marks of one class as they stood.
    for (const { mark } of moving.sort((a, b) => a.rank - b.rank)) result.push(mark);
    moving = [];
  };
  for (const mark of marks) {
    const rank = ranks.get(mark)!;
    if (rank > 0) moving.push({ mark, rank });
    else {
      flush();
      result.push(mark);
    }
  }
  flush();
  return result.join('');
}

/** Marks of the lowest and of the highest class that there is above 0: an overlay, and the iota below. */
const LOWEST = '\u0334';
const HIGHEST = '\u0345';

/** True when normalising swaps `second` and `first`: the class of `first` is lower, and neither is 0. */
function goesBefore(first: string, second: string): boolean {
  return first !== second && `x${second}${first}`.normalize('NFD') === `x${first}${second}`;
}

/** 0 for marks that never move, else numbers in the order of the marks' combining classes, equal where those are. */
function classRanks(marks: ReadonlySet<string>): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  const moving: string[] = [];
  for (const mark of marks) {
    if (goesBefore(LOWEST, mark) || goesBefore(mark, HIGHEST)) moving.push(mark);
    else ranks.set(mark, 0);
  }
  moving.sort((a, b) => (goesBefore(a, b) ? -1 : goesBefore(b, a) ? 1 : 0));
  let rank = 0;
  for (const [index, mark] of moving.entries()) {
    if (index === 0 || goesBefore(moving[index - 1]!, mark)) rank++;
    ranks.set(mark, rank);
  }
  return ranks;
}
