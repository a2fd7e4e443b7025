// Documents of a wanted size, from a seed: sentences of few words, as the words hardly matter to a reader.
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { generator } from './random.ts';

const WORDS =
  'the report says that engineers measure memory and time of every document which arrives at their server while people ask about leave travel budget office health training policy contract delivery quality'.split(
    ' ',
  );

export class DocumentSource {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = generator(seed);
  }

  #sentence(): string {
    const count = 8 + Math.floor(this.#random() * 10);
    const words = Array.from({ length: count }, () => WORDS[Math.floor(this.#random() * WORDS.length)] ?? '');
    return `${words.join(' ')}. `;
  }

  #paragraph(): string {
    return Array.from({ length: 5 }, () => this.#sentence()).join('');
  }

  text(bytes: number): Uint8Array {
    return repeated(bytes, '', () => `${this.#paragraph()}\n\n`);
  }

  /** A page with headings, links, lists and tables, about a fifth of it tags. */
  html(bytes: number): Uint8Array {
    let section = 0;
    return repeated(bytes, '<!doctype html><html><head><title>Handbook</title></head><body>', () => {
      section += 1;
      const paragraphs = Array.from(
        { length: 6 },
        () => `<p class="text">${this.#paragraph().replaceAll('leave', '<a href="/leave?from=here">leave</a>')}</p>\n`,
      );
      const list = '<ul>'.concat('<li>one item of a list</li>'.repeat(5), '</ul>');
      const rows = '<tr><td>Ada</td><td>Oslo</td></tr>'.repeat(5);
      const table = `<table><tr><th>Name</th><th>City</th></tr>${rows}</table>`;
      return `<section id="s${section}"><h2>Section ${section}</h2>\n${paragraphs.join('')}${list}${table}</section>\n`;
    });
  }

  /** Pages of text in a font that every reader knows, with compressed contents, and nothing else. */
  async pdf(pages: number): Promise<Uint8Array> {
    const document = await PDFDocument.create();
    const font = await document.embedFont(StandardFonts.Helvetica);
    for (let number = 1; number <= pages; number++) {
      const page = document.addPage([595, 842]);
      page.drawText(`Chapter ${number}`, { x: 50, y: 790, size: 20, font });
      for (let line = 0; line < 50; line++)
        page.drawText(this.#sentence(), { x: 50, y: 760 - line * 14, size: 10, font });
    }
    return document.save();
  }
}

function repeated(bytes: number, head: string, part: () => string): Uint8Array {
  const parts = [head];
  for (let length = head.length; length < bytes; length += parts.at(-1)?.length ?? 1) parts.push(part());
  return Buffer.from(parts.join(''));
}
