// Collects the text of a document as its reader finds it, section by section, and holds the limit on its length.
import type { Place, Section } from './document.ts';
import { type DocumentLimits, tooLarge } from './limits.ts';

/** Characters that no text needs: NUL and other controls, byte order marks, soft hyphens. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it removes
const DROPPED = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad\ufeff]/;
const ALL_DROPPED = new RegExp(DROPPED, 'g');

/** The text without characters that a grain may not have, and with `\n` as its only line end. */
export function cleanText(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text;
  const printed = DROPPED.test(lines) ? lines.replace(ALL_DROPPED, '') : lines;
  return printed.isWellFormed() ? printed : printed.toWellFormed();
}

const NOWHERE: Place = { headings: [] };

export class SectionWriter {
  readonly #limits: DocumentLimits;
  readonly #sections: Section[] = [];
  #place: Place = NOWHERE;
  /** Headings above those of the part that is being read. */
  #above: readonly string[] = [];
  #parts: string[] = [];
  /** True while the section has nothing but headings. */
  #isBare = true;
  #chars = 0;

  constructor(limits: DocumentLimits) {
    this.#limits = limits;
  }

  get place(): Place {
    return this.#place;
  }

  /** Characters so far. */
  get chars(): number {
    return this.#chars;
  }

  /** Begins a section at `place`. */
  begin(place: Place): void {
    // A heading directly under another one would leave a section without text.
    const own = this.#above.length === 0 ? place : { ...place, headings: [...this.#above, ...place.headings] };
    if (!(this.#isBare && isBelow(own, this.#place))) this.#end();
    this.#place = own;
  }

  /** Puts what `work` writes under `headings`, as an attachment is under its e-mail. */
  async under(headings: readonly string[], work: () => Promise<unknown>): Promise<void> {
    const above = this.#above;
    this.#above = [...above, ...headings];
    try {
      this.begin({ headings: [] });
      await work();
    } finally {
      this.#above = above;
      this.begin({ headings: [] });
    }
  }

  /** Adds the line of the section's own heading. */
  heading(text: string): void {
    this.#add(text);
  }

  /** Adds clean text to the current section. */
  write(text: string): void {
    this.#add(text);
    if (this.#isBare && /\S/.test(text)) this.#isBare = false;
  }

  #add(text: string): void {
    this.#chars += text.length;
    if (this.#chars > this.#limits.textChars) throw tooLarge(`has more than ${this.#limits.textChars} characters`);
    this.#parts.push(text);
  }

  finish(): readonly Section[] {
    this.#end();
    return this.#sections;
  }

  #end(): void {
    const text = this.#parts.length === 1 ? (this.#parts[0] ?? '') : this.#parts.join('');
    this.#parts = [];
    this.#isBare = true;
    if (/\S/.test(text)) this.#sections.push({ ...this.#place, text });
  }
}

function isBelow(place: Place, above: Place): boolean {
  return (
    place.page === above.page &&
    place.slide === above.slide &&
    place.sheet === above.sheet &&
    place.headings.length > above.headings.length &&
    above.headings.every((heading, at) => place.headings[at] === heading)
  );
}

/** Keeps the headings above a text, by their levels. */
export class HeadingPath {
  readonly #levels: { readonly level: number; readonly text: string }[] = [];

  /** Enters a heading of this level and returns the path that ends with it. */
  enter(level: number, text: string): string[] {
    while ((this.#levels.at(-1)?.level ?? -1) >= level) this.#levels.pop();
    this.#levels.push({ level, text: shortened(text) });
    return this.path;
  }

  get path(): string[] {
    return this.#levels.map(({ text }) => text);
  }
}

const HEADING_CHARS_MAX = 200;

/** One line of bounded length: some files mark whole paragraphs as headings. */
function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= HEADING_CHARS_MAX ? line : `${line.slice(0, HEADING_CHARS_MAX - 1).toWellFormed()}…`;
}
