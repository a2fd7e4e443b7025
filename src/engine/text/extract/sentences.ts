// Splits a text into sentences with their context: the speaker, and whether the words are quoted. One pass, in which
// every character is read a bounded number of times.
import { EXTRACT_SENTENCE_CHARS_MAX, EXTRACT_TEXT_CHARS_MAX } from '../../base/limits.ts';

export interface Sentence {
  /** Without the mark at its end; white space and apostrophes made plain. */
  readonly text: string;
  /** The mark at its end, or ''. */
  readonly mark: string;
  /** The label of its line ("Anna: I like tea"), undefined where there is none. */
  readonly label: string | undefined;
  /** True when any part is in quotation marks, code or a quoted line. */
  readonly quoted: boolean;
  /** The first sentence after an empty line, or of the text. */
  readonly opensParagraph: boolean;
}

/** Words before a full stop that does not end a sentence. */
const ABBREVIATIONS = new Set(
  'mr mrs ms dr prof st sr jr vs etc no inc ltd co corp dept approx e.g i.e a.m p.m u.s u.k jan feb mar apr jun jul aug sep sept oct nov dec'.split(
    ' ',
  ),
);

const LABEL = /^(\p{L}[\p{L}\p{N} .'-]{0,30}?):\s+(?=\S)/u;

/**
 * Sentences in order. Those longer than EXTRACT_SENTENCE_CHARS_MAX are skipped and counted in `leftOut`; text beyond
 * the limit is skipped.
 */
export function* sentencesOf(text: string, leftOut: { long: number } = { long: 0 }): Generator<Sentence, void, void> {
  const quotes = new Quotes();
  let fenced = false;
  let opensParagraph = true;
  for (const raw of text.slice(0, EXTRACT_TEXT_CHARS_MAX).split(/\r\n|[\n\r\u2028\u2029]/)) {
    const trimmed = raw.trim();
    if (trimmed === '') {
      opensParagraph = true;
      quotes.reset();
      continue;
    }
    if (/^(```|~~~)/.test(trimmed)) {
      fenced = !fenced;
      continue;
    }
    // Quoted lines, tables, headings, markup and comments are not statements of the sender.
    if (fenced || /^([>|#<{}[\]]|\/\/)/.test(trimmed)) continue;
    const line = plain(trimmed.replace(/^([-*•]|\d{1,3}[.)])\s+/, ''));
    const label = LABEL.exec(line.slice(0, 40));
    const spoken = label === null ? line : line.slice(label[0].length);
    for (const piece of pieces(spoken)) {
      const quoted = quotes.take(piece.text);
      if (piece.text.length > EXTRACT_SENTENCE_CHARS_MAX) {
        leftOut.long += 1;
        continue;
      }
      yield { ...piece, label: label?.[1], quoted, opensParagraph };
      opensParagraph = false;
    }
  }
}

function plain(text: string): string {
  return text.replace(/[\u2018\u2019\u02bc]/g, "'").replace(/[\s\u00a0]+/g, ' ');
}

interface Piece {
  readonly text: string;
  readonly mark: string;
}

/** Written as a loop, not as a pattern, so that a line of a hundred thousand full stops takes linear time. */
function* pieces(line: string): Generator<Piece, void, void> {
  let start = 0;
  for (let i = 0; i < line.length; ) {
    if (!'.!?…'.includes(line[i]!)) {
      i++;
      continue;
    }
    const markStart = i;
    while (i < line.length && '.!?…'.includes(line[i]!)) i++;
    const markEnd = i;
    while (i < line.length && '"\'”’»)]'.includes(line[i]!)) i++;
    if (i < line.length && line[i] !== ' ') continue;
    if (i - markStart === 1 && line[markStart] === '.' && isAbbreviation(line, start, markStart)) continue;
    // A closing quotation mark after the full stop belongs to the sentence; otherwise its pair would seem open.
    const text = (line.slice(start, markStart) + line.slice(markEnd, i)).trim();
    if (text !== '') yield { text, mark: line.slice(markStart, markEnd) };
    start = i;
  }
  const rest = line.slice(start).trim();
  if (rest !== '') yield { text: rest, mark: '' };
}

function isAbbreviation(line: string, start: number, stop: number): boolean {
  const from = Math.max(start, stop - 8);
  const word = /(?:^|[\s(])([\p{L}.]{1,7})$/u.exec(line.slice(from, stop))?.[1];
  if (word === undefined) return false;
  return (word.length === 1 && word !== 'I' && stop < line.length - 1) || ABBREVIATIONS.has(word.toLowerCase());
}

/** Tracks quotation marks across sentences. */
class Quotes {
  #double = false;
  #single = false;

  reset(): void {
    this.#double = false;
    this.#single = false;
  }

  /** True when any of `text`, the next sentence, is quoted. */
  take(text: string): boolean {
    let quoted = this.#double || this.#single;
    for (let i = 0; i < text.length; i++) {
      const char = text[i]!;
      if ('"“”„«»`'.includes(char)) {
        quoted = true;
        this.#double = char === '"' || char === '`' ? !this.#double : char !== '”' && char !== '»';
      } else if (char === "'") {
        const before = i === 0 ? ' ' : text[i - 1]!;
        const after = i + 1 === text.length ? ' ' : text[i + 1]!;
        if (/[\s(]/.test(before) && /\S/.test(after) && !/^'(\d0s|n\b|cause\b|em\b|til\b)/.test(text.slice(i, i + 7))) {
          this.#single = true;
          quoted = true;
        } else if (this.#single && /[\s.,;!?)]/.test(after)) this.#single = false;
      }
    }
    return quoted;
  }
}
