// The text of a page's content: which strings are shown where. Strings on one baseline make a line; a gap between them is a
// blank.
import { numbersOf, type PdfFile } from './file.ts';
import { type Font, readFont } from './fonts.ts';
import type { PdfLine } from './page-lines.ts';
import { Bytes, type Dictionary, Keyword, Lexer, Name, Reference, Unusual, type Value } from './syntax.ts';

/** Scale and rotation (a, b, c, d), then the origin. */
type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];
const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

function times(one: Matrix, two: Matrix): Matrix {
  return [
    one[0] * two[0] + one[1] * two[2],
    one[0] * two[1] + one[1] * two[3],
    one[2] * two[0] + one[3] * two[2],
    one[2] * two[1] + one[3] * two[3],
    one[4] * two[0] + one[5] * two[2] + two[4],
    one[4] * two[1] + one[5] * two[3] + two[5],
  ];
}

/** Text settings, saved and restored with the rest of the state. */
interface State {
  ctm: Matrix;
  font: Font | undefined;
  size: number;
  charSpace: number;
  wordSpace: number;
  scale: number;
  leading: number;
  rise: number;
}

const FORMS_DEPTH_MAX = 8;
const STATES_MAX = 512;
/** A gap of this part of the size is a blank; letters are moved by less. */
const BLANK_GAP = 0.15;
/** Baselines closer than this part of the size are one line, with its superscripts. */
const LINE_RISE = 0.5;
/** Hebrew, Arabic and their like: their order on the page is not that of reading, which PDF.js restores. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Fonts of the whole file, each read once. */
export type FontCache = Map<number, Font>;

export class PageText {
  readonly #file: PdfFile;
  readonly #fonts: FontCache;
  readonly #lines: PdfLine[] = [];
  #state: State = {
    ctm: IDENTITY,
    font: undefined,
    size: 0,
    charSpace: 0,
    wordSpace: 0,
    scale: 1,
    leading: 0,
    rise: 0,
  };
  #matrix: Matrix = IDENTITY;
  #lineMatrix: Matrix = IDENTITY;
  #text = '';
  #size = 0;
  #y = 0;
  #endX = 0;
  #endY = 0;
  codes = 0;
  unknown = 0;

  constructor(file: PdfFile, fonts: FontCache) {
    this.#file = file;
    this.#fonts = fonts;
  }

  /** The lines so far; ends the current one. */
  lines(): readonly PdfLine[] {
    this.#endLine();
    return this.#lines;
  }

  read(source: string, resources: Dictionary, depth = 0): void {
    const lexer = new Lexer(source);
    const saved: State[] = [];
    let operands: Value[] = [];
    for (;;) {
      const value = lexer.next();
      if (!(value instanceof Keyword)) {
        operands.push(value);
        if (operands.length > STATES_MAX) operands = [];
        continue;
      }
      const { word } = value;
      if (word === '') break;
      if (word === 'q') {
        if (saved.length < STATES_MAX) saved.push({ ...this.#state });
      } else if (word === 'Q') this.#state = saved.pop() ?? this.#state;
      else if (word === 'BI') skipImage(lexer);
      else if (word === 'Do') this.#form(operands[0], resources, depth);
      else if (word === 'Tf') this.#setFont(operands, resources);
      else this.#operate(word, operands);
      if (operands.length > 0) operands = [];
    }
    const [first] = saved;
    if (first !== undefined) this.#state = first;
  }

  #operate(word: string, operands: readonly Value[]): void {
    const state = this.#state;
    switch (word) {
      case 'Tj':
        this.#show(operands[0]);
        break;
      case 'TJ':
        this.#showAll(operands[0]);
        break;
      case 'Tm':
        this.#lineMatrix = this.#matrix = matrixOf(operands);
        break;
      case 'Td':
        this.#move(Number(operands[0]), Number(operands[1]));
        break;
      case 'TD':
        state.leading = -Number(operands[1]);
        this.#move(Number(operands[0]), Number(operands[1]));
        break;
      case 'T*':
        this.#move(0, -state.leading);
        break;
      case "'":
        this.#move(0, -state.leading);
        this.#show(operands[0]);
        break;
      case '"':
        state.wordSpace = Number(operands[0]);
        state.charSpace = Number(operands[1]);
        this.#move(0, -state.leading);
        this.#show(operands[2]);
        break;
      case 'BT':
        this.#lineMatrix = this.#matrix = IDENTITY;
        break;
      case 'TL':
        state.leading = Number(operands[0]);
        break;
      case 'Tc':
        state.charSpace = Number(operands[0]);
        break;
      case 'Tw':
        state.wordSpace = Number(operands[0]);
        break;
      case 'Tz':
        state.scale = Number(operands[0]) / 100;
        break;
      case 'Ts':
        state.rise = Number(operands[0]);
        break;
      case 'cm':
        state.ctm = times(matrixOf(operands), state.ctm);
        break;
      default:
    }
  }

  #move(x: number, y: number): void {
    this.#lineMatrix = this.#matrix = times([1, 0, 0, 1, x, y], this.#lineMatrix);
  }

  #setFont(operands: readonly Value[], resources: Dictionary): void {
    const [name, size] = operands;
    if (!(name instanceof Name)) return;
    const value = this.#file.dictionary(resources.get('Font')).get(name.name);
    this.#state.size = Number(size);
    if (!(value instanceof Reference)) {
      this.#state.font = readFont(this.#file, value);
      return;
    }
    let font = this.#fonts.get(value.number);
    if (font === undefined) {
      font = readFont(this.#file, value);
      this.#fonts.set(value.number, font);
    }
    this.#state.font = font;
  }

  #form(name: Value | undefined, resources: Dictionary, depth: number): void {
    if (!(name instanceof Name) || depth >= FORMS_DEPTH_MAX) return;
    const reference = this.#file.dictionary(resources.get('XObject')).get(name.name);
    const stream = this.#file.stream(reference);
    if (stream === undefined) return;
    const subtype = this.#file.get(stream.dictionary.get('Subtype'));
    if (!(subtype instanceof Name) || subtype.name !== 'Form') return;
    const before = { ...this.#state };
    const own = numbersOf(this.#file.get(stream.dictionary.get('Matrix')));
    if (own.length === 6) this.#state.ctm = times(matrixOf(own), this.#state.ctm);
    const inner = this.#file.get(stream.dictionary.get('Resources'));
    const known = inner instanceof Map ? (inner as Dictionary) : resources;
    this.read(this.#file.data(stream).toString('latin1'), known, depth + 1);
    this.#state = before;
  }

  #showAll(value: Value | undefined): void {
    if (!Array.isArray(value)) return;
    const { size, scale } = this.#state;
    for (const part of value as readonly Value[])
      if (part instanceof Bytes) this.#show(part);
      else if (typeof part === 'number') this.#advance((-part / 1_000) * size * scale);
  }

  #advance(x: number): void {
    const m = this.#matrix;
    this.#matrix = [m[0], m[1], m[2], m[3], m[4] + x * m[0], m[5] + x * m[1]];
  }

  #show(value: Value | undefined): void {
    const { font, size, scale, charSpace, wordSpace, rise, ctm } = this.#state;
    if (!(value instanceof Bytes) || font === undefined || value.latin1 === '') return;
    const shown = font.show(value.latin1);
    this.codes += shown.codes;
    this.unknown += shown.unknown;
    const m = times(this.#matrix, ctm);
    const unit = Math.hypot(m[0], m[1]) || 1;
    const height = Math.abs(size) * (Math.hypot(m[2], m[3]) || unit);
    this.#begin(m[4] + rise * m[2], m[5] + rise * m[3], height, shown.text);
    this.#advance(((shown.width / 1_000) * size + charSpace * shown.codes + wordSpace * shown.blanks) * scale);
    const end = times(this.#matrix, ctm);
    this.#endX = end[4];
    this.#endY = end[5];
  }

  /** Adds text that begins at (x, y): to the current line, or to a new one. */
  #begin(x: number, y: number, height: number, text: string): void {
    if (RIGHT_TO_LEFT.test(text)) throw new Unusual('text from right to left');
    const size = Math.max(height, this.#size);
    const gap = x - this.#endX;
    const isSameLine = this.#text !== '' && Math.abs(y - this.#endY) < LINE_RISE * size && gap > -size;
    if (!isSameLine) {
      this.#endLine();
      this.#y = y;
    } else if (gap > BLANK_GAP * height && !this.#text.endsWith(' ') && !text.startsWith(' ')) this.#text += ' ';
    this.#text += text;
    if (height > this.#size && text.trim() !== '') {
      this.#size = height;
      this.#y = y;
    }
  }

  #endLine(): void {
    if (this.#text.trim() !== '') this.#lines.push({ text: this.#text, size: this.#size, y: this.#y });
    this.#text = '';
    this.#size = 0;
  }
}

function matrixOf(operands: readonly Value[]): Matrix {
  const [a, b, c, d, e, f] = operands.map(Number);
  return [a ?? 1, b ?? 0, c ?? 0, d ?? 1, e ?? 0, f ?? 0];
}

/** Goes behind an image within the content. */
function skipImage(lexer: Lexer): void {
  const end = /[\s]EI(?=[\s]|$)/g;
  const data = lexer.text.indexOf('ID', lexer.at);
  end.lastIndex = data === -1 ? lexer.text.length : data;
  lexer.at = end.test(lexer.text) ? end.lastIndex : lexer.text.length;
}
