// The state of one scan: data that the rules share, and their findings.
import type { PiiCategory } from './categories.ts';
import type { CueKind } from './cue-table.ts';
import { type Cue, cuesOf } from './cues.ts';
import type { Candidate, PiiSource } from './finding.ts';
import { isAscii } from './view.ts';

/** Confidence of a finding without a check digit: by its shape alone, and by its cue. */
export const BY_SHAPE = 0.9;
export const BY_CUE = 0.8;

/** The largest distance between a cue and the announced value. */
const REACH = 48;
const SENTENCE_END = /(?<!(?<!\p{L})(?:no|nr|n|num|tel|ref|st|dr|mr|mrs|ms))[.!?](?=\s|$)|\n/iu;

export class Scan {
  readonly text: string;
  readonly found: Candidate[] = [];
  /** True when the text is ASCII. Rules for other scripts are then skipped. */
  readonly ascii: boolean;
  /** Number of digits in the text. Rules that need many are skipped when there are few. */
  readonly digits: number;
  readonly #byKind = new Map<CueKind, Cue[]>();

  constructor(text: string) {
    this.text = text;
    this.ascii = isAscii(text);
    this.digits = digitsIn(text);
    for (const cue of cuesOf(text, this.ascii)) {
      const cues = this.#byKind.get(cue.kind);
      if (cues === undefined) this.#byKind.set(cue.kind, [cue]);
      else cues.push(cue);
    }
  }

  /** The cues of a kind, in order. */
  cues(kind: CueKind): readonly Cue[] {
    return this.#byKind.get(kind) ?? [];
  }

  get cueKinds(): Iterable<CueKind> {
    return this.#byKind.keys();
  }

  /**
   * True when a cue of the kind precedes `at`, near and in the same sentence. The cue may be abbreviated with a point.
   */
  announced(kind: CueKind, at: number): boolean {
    const cue = lastBefore(this.cues(kind), at);
    return (
      cue !== undefined &&
      at - cue.to <= REACH &&
      !SENTENCE_END.test(this.text.slice(this.text[cue.to] === '.' ? cue.to + 1 : cue.to, at))
    );
  }

  /** Distance from the end of the last cue of the kind to `at`; infinite without one. */
  distance(kind: CueKind, at: number): number {
    const cue = lastBefore(this.cues(kind), at);
    return cue === undefined ? Number.POSITIVE_INFINITY : at - cue.to;
  }

  /** True when a cue of the kind follows `at`: "49201 is your verification code". */
  explained(kind: CueKind, at: number): boolean {
    const cues = this.cues(kind);
    const cue = cues[firstFrom(cues, at)];
    return cue !== undefined && cue.from - at <= REACH && !SENTENCE_END.test(this.text.slice(at, cue.from));
  }

  add(category: PiiCategory, from: number, to: number, confidence: number, source: PiiSource = 'regex'): void {
    if (to > from) this.found.push({ category, from, to, confidence, source });
  }
}

function digitsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) count += 1;
  }
  return count;
}

function lastBefore(cues: readonly Cue[], at: number): Cue | undefined {
  for (let index = firstFrom(cues, at) - 1; index >= 0; index--) if (cues[index]!.to <= at) return cues[index];
  return undefined;
}

/** The index of the first cue that begins at `at` or later. */
function firstFrom(cues: readonly Cue[], at: number): number {
  let low = 0;
  let high = cues.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cues[middle]!.from < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
