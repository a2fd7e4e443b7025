// The view of a text that the rules read, with a map back to the original: NFKC, without invisible characters, and with
// every decimal digit, hyphen, apostrophe and blank in its plain form. One pass, linear.

export interface View {
  readonly text: string;
  /** The UTF-16 offset in the original of the view's character at `from`. */
  start(from: number): number;
  /** The UTF-16 offset in the original after the view's character before `to`, which is above 0. */
  end(to: number): number;
}

const ASCII = /^[\0-\x7f]*$/;
/** Characters that combine with the one before: marks, variation selectors, conjoining vowels and finals. */
const CONTINUES = /[\p{M}\u1160-\u11ff]/u;
/** Format and filler characters and variation selectors, which are invisible. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const DIGIT = /\p{Nd}/u;
const HYPHEN = /[\u02d7\u058a\u2010-\u2015\u2212\u2043\u2e3a\u2e3b\ufe58\ufe63\uff0d]/g;
const APOSTROPHE = /[\u2018\u2019\u201b\u02bc]/g;
/** Braille's blank has the category of a symbol. */
const BLANK = /[\p{Zs}\u2028\u2029\u2800]/gu;
/** Characters that the view changes although they are in normal form. */
const ODD =
  /[\u02bc\u02d7\u058a\u2010-\u2015\u2018\u2019\u201b\u2028\u2029\u2043\u2212\u2800\u2e3a\u2e3b]|[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?![0-9])\p{Nd}|(?! )\p{Zs}/u;
/** The longest cluster that is normalised at once, so that a text of marks alone stays linear. */
const CLUSTER_UNITS_MAX = 32;

export function viewOf(original: string): View {
  if (isAscii(original) || isPlain(original)) return { text: original, start: (from) => from, end: (to) => to };
  let text = '';
  // One character of the view may come from several of the original, or several from one (ligatures).
  const starts: number[] = [];
  const ends: number[] = [];
  for (let at = 0; at < original.length; ) {
    const end = clusterEnd(original, at);
    const code = original.charCodeAt(at);
    const seen = end === at + 1 && code < 0x80 ? original[at]! : plain(original.slice(at, end));
    text += seen;
    for (let unit = 0; unit < seen.length; unit++) {
      starts.push(at);
      ends.push(end);
    }
    at = end;
  }
  return { text, start: (from) => starts[from] ?? original.length, end: (to) => ends[to - 1]! };
}

export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** Most texts in other scripts are in normal form already, which the runtime checks much faster than a walk does. */
function isPlain(text: string): boolean {
  return !ODD.test(text) && text.normalize('NFKC') === text;
}

function clusterEnd(text: string, at: number): number {
  let end = at + (text.codePointAt(at)! > 0xffff ? 2 : 1);
  while (end < text.length && end - at < CLUSTER_UNITS_MAX) {
    if (text.charCodeAt(end) < 0x300) break;
    const next = text.codePointAt(end)!;
    if (!CONTINUES.test(String.fromCodePoint(next))) break;
    end += next > 0xffff ? 2 : 1;
  }
  return end;
}

function plain(cluster: string): string {
  const normal = cluster
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(HYPHEN, '-')
    .replace(APOSTROPHE, "'")
    .replace(BLANK, ' ');
  if (!DIGIT.test(normal)) return normal;
  return normal.replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
}

/** The ten digits of a script are consecutive, so the value is the distance to the first of them. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0)!;
  if (code < 0x80) return code - 48;
  let first = code;
  while (code - first < 9 && DIGIT.test(String.fromCodePoint(first - 1))) first -= 1;
  return (code - first) % 10;
}
