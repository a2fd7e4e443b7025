// Reads the text of a PDF directly: the strings of its pages and the characters of its fonts, and nothing that only looks.
// It reads what most programs write, and throws Unusual for everything else, which PDF.js reads then.
import { type DocumentLimits, tooLarge } from '../limits.ts';
import { type FontCache, PageText } from './content.ts';
import { PdfFile } from './file.ts';
import { wideText } from './fonts.ts';
import type { OutlineEntry, PdfLine, PdfText } from './page-lines.ts';
import { Bytes, type Dictionary, isDictionary, isList, Name, Reference, Unusual, type Value } from './syntax.ts';

/** More unknown characters than this share, and the text is not worth having. */
const UNKNOWN_SHARE_MAX = 0.02;
const TREE_DEPTH_MAX = 64;
const OUTLINE_ENTRIES_MAX = 10_000;
const OUTLINE_DEPTH_MAX = 9;
/** Names of places, and nodes of their tree. */
const NAMES_MAX = 100_000;

interface Page {
  readonly number: number;
  readonly dictionary: Dictionary;
  readonly resources: Dictionary;
}

/** Throws Unusual for a file that PDF.js should read, LIM-E003 for one beyond its limits. */
export function readDirectly(bytes: Uint8Array, limits: DocumentLimits): PdfText {
  const file = new PdfFile(bytes, limits);
  const root = file.dictionary(file.trailer.get('Root'));
  const pages = new PageTree(file, limits).of(root.get('Pages'));
  if (pages.length === 0) throw new Unusual('no pages');
  const fonts: FontCache = new Map();
  let [codes, unknown] = [0, 0];
  const read = pages.map((page): readonly PdfLine[] => {
    const text = new PageText(file, fonts);
    text.read(contentOf(file, page.dictionary), page.resources);
    codes += text.codes;
    unknown += text.unknown;
    return text.lines();
  });
  if (unknown > codes * UNKNOWN_SHARE_MAX) throw new Unusual('unknown characters');
  return { pages: read, outline: new Outline(file, pages, root).entries() };
}

function contentOf(file: PdfFile, page: Dictionary): string {
  const contents = page.get('Contents');
  const one = file.stream(contents);
  const streams = one === undefined ? file.list(contents).map((part) => file.stream(part)) : [one];
  return streams.map((stream) => (stream === undefined ? '' : file.data(stream).toString('latin1'))).join('\n');
}

class PageTree {
  readonly #file: PdfFile;
  readonly #limits: DocumentLimits;
  readonly #pages: Page[] = [];
  readonly #seen = new Set<number>();

  constructor(file: PdfFile, limits: DocumentLimits) {
    this.#file = file;
    this.#limits = limits;
  }

  of(root: Value | undefined): readonly Page[] {
    this.#visit(root, new Map(), 0);
    return this.#pages;
  }

  #visit(value: Value | undefined, inherited: Dictionary, depth: number): void {
    if (depth > TREE_DEPTH_MAX) throw new Unusual('pages nest too deep');
    if (value instanceof Reference) {
      if (this.#seen.has(value.number)) throw new Unusual('a page twice');
      this.#seen.add(value.number);
    }
    const node = this.#file.dictionary(value);
    const own = this.#file.get(node.get('Resources'));
    const resources = isDictionary(own) ? own : inherited;
    if (node.has('Kids')) for (const kid of this.#file.list(node.get('Kids'))) this.#visit(kid, resources, depth + 1);
    else if (node.size > 0) {
      if (this.#pages.length >= this.#limits.pages) throw tooLarge(`has more than ${this.#limits.pages} pages`);
      this.#pages.push({ number: value instanceof Reference ? value.number : -1, dictionary: node, resources });
    }
  }
}

class Outline {
  readonly #file: PdfFile;
  readonly #root: Dictionary;
  readonly #pageOf: ReadonlyMap<number, number>;
  readonly #found: OutlineEntry[] = [];
  #named: Map<string, Value> | undefined;
  #visited = 0;

  constructor(file: PdfFile, pages: readonly Page[], root: Dictionary) {
    this.#file = file;
    this.#root = root;
    this.#pageOf = new Map(pages.map(({ number }, at) => [number, at + 1]));
  }

  entries(): readonly OutlineEntry[] {
    this.#visit(this.#file.dictionary(this.#root.get('Outlines')).get('First'), 1);
    return this.#found;
  }

  #visit(first: Value | undefined, level: number): void {
    if (level > OUTLINE_DEPTH_MAX) return;
    for (let next = first; next !== undefined && this.#visited < OUTLINE_ENTRIES_MAX; ) {
      this.#visited += 1;
      const entry = this.#file.dictionary(next);
      const title = this.#file.get(entry.get('Title'));
      const page = this.#target(entry);
      const text = title instanceof Bytes ? textOf(title).trim() : '';
      if (page !== undefined && text !== '') this.#found.push({ title: text, level, page });
      this.#visit(entry.get('First'), level + 1);
      next = entry.get('Next');
    }
  }

  #target(entry: Dictionary): number | undefined {
    const action = this.#file.dictionary(entry.get('A'));
    let dest = this.#file.get(entry.get('Dest') ?? action.get('D'));
    if (dest instanceof Bytes || dest instanceof Name)
      dest = this.#file.get(this.#names().get(dest instanceof Bytes ? dest.latin1 : dest.name));
    if (isDictionary(dest)) dest = this.#file.get(dest.get('D'));
    const page = isList(dest) ? dest[0] : undefined;
    if (typeof page === 'number') return page + 1;
    return page instanceof Reference ? this.#pageOf.get(page.number) : undefined;
  }

  #names(): Map<string, Value> {
    if (this.#named !== undefined) return this.#named;
    this.#named = new Map(this.#file.dictionary(this.#root.get('Dests')));
    this.#addNames(this.#file.dictionary(this.#root.get('Names')).get('Dests'), this.#named, 0);
    return this.#named;
  }

  #addNames(value: Value | undefined, into: Map<string, Value>, depth: number): void {
    this.#visited += 1;
    if (depth > TREE_DEPTH_MAX || this.#visited > NAMES_MAX || into.size > NAMES_MAX) return;
    const node = this.#file.dictionary(value);
    const names = this.#file.list(node.get('Names'));
    for (let at = 0; at + 1 < names.length; at += 2) {
      const name = this.#file.get(names[at]);
      if (name instanceof Bytes) into.set(name.latin1, names[at + 1] ?? null);
    }
    for (const kid of this.#file.list(node.get('Kids'))) this.#addNames(kid, into, depth + 1);
  }
}

/** A text of the file itself: UTF-16 or UTF-8 with a mark, else nearly Latin-1. */
function textOf({ latin1 }: Bytes): string {
  if (latin1.startsWith('\xfe\xff')) return wideText(latin1.slice(2));
  if (latin1.startsWith('\xef\xbb\xbf')) return Buffer.from(latin1.slice(3), 'latin1').toString();
  return Buffer.from(latin1, 'latin1').toString('latin1');
}
