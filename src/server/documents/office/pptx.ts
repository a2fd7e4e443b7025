// PPTX: a section a slide, under its title, with its tables as lines and its notes at the end.
import { looksLikeHeaders, TableRows } from '../formats/table-rows.ts';
import { type DocumentLimits, tooLarge } from '../limits.ts';
import { cleanText, HeadingPath, type SectionWriter } from '../section-writer.ts';
import { type Archive, damaged } from './archive.ts';
import { type Relation, relationsOf, relationsPath } from './package.ts';
import { attribute, readXml, type XmlAttributes, type XmlHandler } from './xml.ts';

/** Returns the number of slides. */
export function readPptx(archive: Archive, main: string, out: SectionWriter, limits: DocumentLimits): number {
  const slides = slidesOf(archive, main, limits);
  if (slides.length > limits.pages) throw tooLarge(`has more than ${limits.pages} slides`);
  const notes = notesOf(archive, slides, limits);
  const bytes = archive.read(new Set([...slides, ...notes.values()]));
  for (const [at, path] of slides.entries()) {
    const slide = shapesOf(bytes.get(path), limits);
    const said = shapesOf(bytes.get(notes.get(path) ?? ''), limits);
    const headings = slide.title === '' ? [] : new HeadingPath().enter(1, slide.title);
    out.begin({ headings, slide: at + 1 });
    if (slide.title !== '') out.heading(`${slide.title}\n\n`);
    for (const text of slide.texts) out.write(`${text}\n`);
    if (said.texts.length > 0) out.write(`\nNotes: ${said.texts.join('\n')}\n`);
    else if (slide.texts.length === 0 && slide.title !== '') out.write('\n');
  }
  return slides.length;
}

/** Paths of the slides, in their order. */
function slidesOf(archive: Archive, main: string, limits: DocumentLimits): string[] {
  const parts = archive.read(new Set([main, relationsPath(main)]));
  const presentation = parts.get(main);
  if (presentation === undefined) throw damaged();
  const ids: string[] = [];
  const open = (name: string, attributes: XmlAttributes): void => {
    // `r:id` names the relation, `id` the slide.
    if (name === 'sldId') ids.push(Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? '');
  };
  readXml(presentation, { open, close: () => undefined }, limits);
  const relations = relationsOf(main, parts.get(relationsPath(main)), limits);
  const targets = new Map(relations.map(({ id, target }) => [id, target]));
  return ids.flatMap((id) => targets.get(id) ?? []);
}

/** Paths of the slides' notes. */
function notesOf(archive: Archive, slides: readonly string[], limits: DocumentLimits): Map<string, string> {
  const found = archive.read(new Set(slides.map(relationsPath)));
  const notes = new Map<string, string>();
  const isNotes = ({ type }: Relation): boolean => type === 'notesSlide';
  for (const slide of slides) {
    const target = relationsOf(slide, found.get(relationsPath(slide)), limits).find(isNotes)?.target;
    if (target !== undefined) notes.set(slide, target);
  }
  return notes;
}

interface Shapes {
  readonly title: string;
  readonly texts: readonly string[];
}

function shapesOf(bytes: Uint8Array | undefined, limits: DocumentLimits): Shapes {
  const reader = new ShapeReader();
  readXml(bytes, reader, limits);
  return { title: reader.title, texts: reader.texts };
}

/** Placeholders that repeat on every slide. */
const LEFT_OUT = new Set(['sldNum', 'ftr', 'dt', 'hdr', 'sldImg']);

class ShapeReader implements XmlHandler {
  title = '';
  readonly texts: string[] = [];
  #placeholder: string | undefined;
  #shape: string[] = [];
  #paragraph = '';
  #isText = false;
  #rows: string[][] | undefined;

  open(name: string, attributes: XmlAttributes): void {
    if (name === 'sp') {
      this.#placeholder = undefined;
      this.#shape = [];
    } else if (name === 'ph') this.#placeholder = attribute(attributes, 'type') ?? 'body';
    else if (name === 't') this.#isText = true;
    else if (name === 'br') this.#paragraph += '\n';
    else if (name === 'tab') this.#paragraph += '\t';
    else if (name === 'tbl') this.#rows = [];
    else if (name === 'tr') this.#rows?.push([]);
    else if (name === 'tc') this.#shape = [];
  }

  text(data: string): void {
    if (this.#isText) this.#paragraph += data;
  }

  close(name: string): void {
    if (name === 't') this.#isText = false;
    else if (name === 'p') this.#endParagraph();
    else if (name === 'tc') {
      this.#rows?.at(-1)?.push(this.#shape.join(' '));
      this.#shape = [];
    } else if (name === 'tbl') this.#endTable();
    else if (name === 'sp') this.#endShape();
  }

  #endParagraph(): void {
    const text = cleanText(this.#paragraph).trim();
    this.#paragraph = '';
    if (text !== '') this.#shape.push(text);
  }

  #endShape(): void {
    const type = this.#placeholder;
    if (type === 'title' || type === 'ctrTitle') this.title ||= this.#shape.join(' ');
    else if (type === undefined || !LEFT_OUT.has(type)) this.texts.push(...this.#shape);
    this.#shape = [];
  }

  #endTable(): void {
    const rows = this.#rows ?? [];
    this.#rows = undefined;
    const [first] = rows;
    const table = new TableRows();
    const isHeaded = first !== undefined && rows.length > 1 && looksLikeHeaders(first);
    if (isHeaded) table.setHeaders(first);
    for (const row of isHeaded ? rows.slice(1) : rows) this.texts.push(table.lineOf(row));
  }
}
