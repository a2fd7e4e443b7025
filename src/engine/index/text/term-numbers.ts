// Numbers of terms, shared by all analysers of a thread: a faster key than the text. When there are too many, all terms
// get new numbers in a new epoch, which begins between two texts. Within an epoch a number stands for one term.
import { TERM_NUMBERS_MAX } from '../../base/limits.ts';
import type { AnalyzedText, NumberedText } from '../parts/part.ts';

class TermNumbers {
  /** Numbers of an earlier epoch mean nothing any more. */
  epoch = 0;
  readonly #numbers = new Map<string, number>();
  readonly #terms: string[] = [];

  /** Called before a text is scanned: the numbers of one text are of one epoch. */
  beforeText(): void {
    if (this.#terms.length < TERM_NUMBERS_MAX) return;
    this.#numbers.clear();
    this.#terms.length = 0;
    this.epoch += 1;
  }

  /** The term's number, from 0. */
  number(term: string): number {
    const known = this.#numbers.get(term);
    if (known !== undefined) return known;
    const number = this.#terms.length;
    this.#numbers.set(term, number);
    this.#terms.push(term);
    return number;
  }

  term(number: number): string {
    return this.#terms[number]!;
  }
}

export const termNumbers = new TermNumbers();

/** The terms and positions of a numbered text, in arrays of their own. */
export function textOf({ pairs, start, count }: NumberedText): AnalyzedText {
  const terms: string[] = [];
  const positions: number[] = [];
  for (let at = start; at < start + count * 2; at += 2) {
    terms.push(termNumbers.term(pairs[at]!));
    positions.push(pairs[at + 1]!);
  }
  return { terms, positions };
}

/** A text with the numbers of its terms. */
export function numbered({ terms, positions }: AnalyzedText): NumberedText {
  const pairs = new Int32Array(terms.length * 2);
  for (let i = 0; i < terms.length; i++) {
    pairs[i * 2] = termNumbers.number(terms[i]!);
    pairs[i * 2 + 1] = positions[i]!;
  }
  return { pairs, start: 0, count: terms.length };
}
