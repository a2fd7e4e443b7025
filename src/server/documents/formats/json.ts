// JSON as lines of words: a line for each object whose values are plain (`name: Ada; city: Oslo`), and a line for each
// value elsewhere, under the names that lead to it. JSON without blanks could not be cut into words.
import { type DocumentLimits, tooLarge, unreadable } from '../limits.ts';
import { cleanText, type SectionWriter } from '../section-writer.ts';

export function readJson(text: string, out: SectionWriter, limits: DocumentLimits): void {
  const lines = new Lines(out, limits);
  const whole = parsed(text);
  if (whole.isJson) lines.walk(whole.value, '', 1);
  else readLines(text, lines);
  lines.flush();
}

/** JSON lines: a value a line. */
function readLines(text: string, lines: Lines): void {
  let number = 0;
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const to = end === -1 ? text.length : end;
    const line = text.slice(from, to).trim();
    from = to + 1;
    number += 1;
    if (line === '') continue;
    const { isJson, value } = parsed(line);
    if (!isJson) throw unreadable(`the document is not JSON (line ${number})`);
    lines.walk(value, '', 1);
  }
}

function parsed(text: string): { readonly isJson: boolean; readonly value: unknown } {
  try {
    return { isJson: true, value: JSON.parse(text) as unknown };
  } catch {
    return { isJson: false, value: undefined };
  }
}

const FLUSHED_CHARS = 16_384;

class Lines {
  readonly #out: SectionWriter;
  readonly #limits: DocumentLimits;
  #text = '';

  constructor(out: SectionWriter, limits: DocumentLimits) {
    this.#out = out;
    this.#limits = limits;
  }

  /** Writes a value under the names that lead to it. */
  walk(value: unknown, path: string, depth: number): void {
    if (depth > this.#limits.depth) throw tooLarge(`nests values deeper than ${this.#limits.depth}`);
    if (Array.isArray(value)) {
      if (value.every(isPlain)) this.#line(path, value.filter(isShown).map(String).join(', '));
      else for (const item of value) this.walk(item, path, depth + 1);
    } else if (isObject(value)) this.#object(value, path, depth);
    else if (isShown(value)) this.#line(path, String(value));
  }

  #object(value: Readonly<Record<string, unknown>>, path: string, depth: number): void {
    const plain: string[] = [];
    const nested: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value)) {
      if (!isPlain(member)) nested.push([name, member]);
      else if (isShown(member)) plain.push(`${name}: ${member}`);
    }
    if (plain.length > 0) this.#line(path, plain.join('; '));
    for (const [name, member] of nested) this.walk(member, path === '' ? name : `${path}.${name}`, depth + 1);
  }

  #line(path: string, text: string): void {
    if (text === '') return;
    this.#text += path === '' ? `${text}\n` : `${path}: ${text}\n`;
    if (this.#text.length >= FLUSHED_CHARS) this.flush();
  }

  flush(): void {
    if (this.#text !== '') this.#out.write(cleanText(this.#text));
    this.#text = '';
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function isShown(value: unknown): boolean {
  return value !== null && value !== '';
}
