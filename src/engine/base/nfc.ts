// Unicode's forms NFC and NFKC in linear time. `String.prototype.normalize` orders combining marks by insertion: a long
// run of marks in the wrong order takes quadratic time, 10 s for 256 kB. This file sorts such runs first, so that
// `normalize` finds nothing to move.

/** Shorter texts, in UTF-16 units, are normalised quickly whatever they hold. */
const SHORT = 512;
/** Runs up to twice this length, in UTF-16 units, cost nothing noticeable. */
const STRIDE = 64;
const RUN = /\p{M}*/uy;
const RUNS = /\p{M}{2,}/gu;

/** The first character that NFC may change or move. All before it are composed, and none is a mark. */
const FIRST_UNSTABLE = 0x300;

/** `text.normalize('NFC')`. */
export function toNfc(text: string): string {
  return isStable(text) ? text : inOrder(text).normalize('NFC');
}

/** Any character from FIRST_UNSTABLE on. */
const UNSTABLE = /[\u0300-\uffff]/;

/** True for a text without characters that NFC may change: looking for one takes a tenth of the time of the call. */
function isStable(text: string): boolean {
  if (text.length > STRIDE) return !UNSTABLE.test(text);
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= FIRST_UNSTABLE) return false;
  return true;
}

/** Letters that become combining marks in NFKC. Unicode's categories do not list them as marks. */
const HALFWIDTH_SOUND_MARK = /[\uff9e\uff9f]/g;

/** `text.normalize('NFKC')`. */
export function toNfkc(text: string): string {
  if (text.length <= SHORT) return text.normalize('NFKC');
  const marked = text.replace(HALFWIDTH_SOUND_MARK, (letter) => (letter === '\uff9e' ? '\u3099' : '\u309a'));
  return inOrder(marked).normalize('NFKC');
}

/** The text, with long runs of marks in canonical order. */
function inOrder(text: string): string {
  if (!hasLongRun(text)) return text;
  return text.replace(RUNS, (run) => (run.length < STRIDE ? run : ordered(run)));
}

/** True when marks fill the text between two multiples of the stride. Every run of two strides does so. */
function hasLongRun(text: string): boolean {
  for (let at = 0; at < text.length - STRIDE; at += STRIDE) {
    const unit = text.charCodeAt(at);
    if (unit < 0x300) continue;
    // The second half of a surrogate pair starts no run.
    RUN.lastIndex = unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
    if (RUN.test(text) && RUN.lastIndex >= at + STRIDE) return true;
  }
  return false;
}

/**
 * The marks of a run, decomposed and in canonical order: sorted by class, in their original order within a class. Marks
 * of class 0 are never crossed.
 */
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
    // The sort is stable, which keeps the order of marks within one class.
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

/** A mark of the lowest class above 0 (an overlay), and one of the highest (the iota below). */
const LOWEST = '\u0334';
const HIGHEST = '\u0345';

/** True when normalising swaps `second` and `first`: `first` has the lower class, and neither class is 0. */
function goesBefore(first: string, second: string): boolean {
  return first !== second && `x${second}${first}`.normalize('NFD') === `x${first}${second}`;
}

/**
 * The rank of each mark: 0 for marks that never move, else numbers that ascend with the combining class and are equal
 * within one.
 */
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
