// The text of a page's content: which strings are shown where. Strings on one baseline make a line; a gap between them is a
// blank.
import { numbersOf, type PdfFile } from './file.ts';
import { type Font, readFont } from './fonts.ts';
import type { PdfLine } from './page-lines.ts';
import { RIGHT_TO_LEFT } from './reading-order.ts';
import {
  Bytes,
  type Dictionary,
  isDictionary,
  Keyword,
  Lexer,
  Name,
  Reference,
  Unusual,
  type Value,
} from './syntax.ts';

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

function moved(x: number, y: number, m: Matrix): Matrix {
  return [m[0], m[1], m[2], m[3], m[4] + x * m[0] + y * m[2], m[5] + x * m[1] + y * m[3]];
}

/** `Math.hypot` is slower, because it guards against numbers that no page has. */
function lengthOf(x: number, y: number): number {
  return Math.sqrt(x * x + y * y);
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

/** Of an operator; undefined behind the last. */
type Operands = readonly (Value | undefined)[];

/** The fonts that a content names. */
class Scope {
  readonly #file: PdfFile;
  readonly #resources: Dictionary;
  #fonts: Dictionary | undefined;

  constructor(file: PdfFile, resources: Dictionary) {
    this.#file = file;
    this.#resources = resources;
  }

  /** Read once: some files have a name of its own for each string. */
  get fonts(): Dictionary {
    this.#fonts ??= this.#file.dictionary(this.#resources.get('Font'));
    return this.#fonts;
  }
}

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
  /** Where the current line of text begins, and how far beyond it the next string does. */
  #lineMatrix: Matrix = IDENTITY;
  #shift = 0;
  #text = '';
  #endsBlank = false;
  #isLatin = true;
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
    const scope = new Scope(this.#file, resources);
    const saved: State[] = [];
    // One array for all operators leaves less garbage than one for each.
    const operands: (Value | undefined)[] = [];
    let count = 0;
    for (;;) {
      const value = lexer.next();
      if (!(value instanceof Keyword)) {
        operands[count++] = value;
        if (count > STATES_MAX) while (count > 0) operands[--count] = undefined;
        continue;
      }
      const { word } = value;
      if (word === '') break;
      if (word === 'q') {
        if (saved.length < STATES_MAX) saved.push({ ...this.#state });
      } else if (word === 'Q') this.#state = saved.pop() ?? this.#state;
      else if (word === 'BI') skipImage(lexer);
      else if (word === 'Do') this.#form(operands[0], resources, depth);
      else if (word === 'Tf') this.#setFont(operands, scope);
      else this.#operate(word, operands);
      while (count > 0) operands[--count] = undefined;
    }
    const [first] = saved;
    if (first !== undefined) this.#state = first;
  }

  #operate(word: string, operands: Operands): void {
    const state = this.#state;
    switch (word) {
      case 'Tj':
        this.#show(operands[0]);
        break;
      case 'TJ':
        this.#showAll(operands[0]);
        break;
      case 'Tm':
        this.#beginAt(matrixOf(operands));
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
        this.#beginAt(IDENTITY);
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

  #beginAt(matrix: Matrix): void {
    this.#lineMatrix = matrix;
    this.#shift = 0;
  }

  #move(x: number, y: number): void {
    this.#beginAt(moved(x, y, this.#lineMatrix));
  }

  #setFont([name, size]: Operands, scope: Scope): void {
    if (!(name instanceof Name)) return;
    this.#state.size = Number(size);
    this.#state.font = this.#font(scope.fonts.get(name.name));
  }

  #font(value: Value | undefined): Font {
    if (!(value instanceof Reference)) return readFont(this.#file, value);
    let font = this.#fonts.get(value.number);
    if (font === undefined) {
      font = readFont(this.#file, value);
      this.#fonts.set(value.number, font);
    }
    return font;
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
    const known = isDictionary(inner) ? inner : resources;
    this.read(this.#file.data(stream).toString('latin1'), known, depth + 1);
    this.#state = before;
  }

  #showAll(value: Value | undefined): void {
    if (!Array.isArray(value)) return;
    const { size, scale } = this.#state;
    for (const part of value as readonly Value[])
      if (part instanceof Bytes) this.#show(part);
      else if (typeof part === 'number') this.#shift += (-part / 1_000) * size * scale;
  }

  #show(value: Value | undefined): void {
    const { font, size, scale, charSpace, wordSpace, rise, ctm } = this.#state;
    if (!(value instanceof Bytes) || font === undefined || value.latin1 === '') return;
    const { text, width, codes, blanks, unknown } = font.show(value.latin1);
    this.codes += codes;
    this.unknown += unknown;
    // A font whose codes are their characters gives the string itself.
    const isLatin = text === value.latin1;
    // Its order on the page is not that of reading, which the other reader restores.
    if (!isLatin && RIGHT_TO_LEFT.test(text)) throw new Unusual('text from right to left');
    const [a, b, c, d] = this.#lineMatrix;
    const along = a * ctm[0] + b * ctm[2];
    const upward = a * ctm[1] + b * ctm[3];
    const riseAlong = c * ctm[0] + d * ctm[2];
    const riseUpward = c * ctm[1] + d * ctm[3];
    const unit = lengthOf(along, upward) || 1;
    const height = Math.abs(size) * (lengthOf(riseAlong, riseUpward) || unit);
    const [x, y] = this.#position(ctm);
    this.#begin(x + rise * riseAlong, y + rise * riseUpward, height, text);
    if (!isLatin) this.#isLatin = false;
    this.#shift += ((width / 1_000) * size + charSpace * codes + wordSpace * blanks) * scale;
    [this.#endX, this.#endY] = this.#position(ctm);
  }

  /** Where the next string begins on the page. */
  #position(ctm: Matrix): readonly [x: number, y: number] {
    const [a, b, , , e, f] = this.#lineMatrix;
    const x = e + this.#shift * a;
    const y = f + this.#shift * b;
    return [x * ctm[0] + y * ctm[2] + ctm[4], x * ctm[1] + y * ctm[3] + ctm[5]];
  }

  /** Adds text that begins at (x, y): to the current line, or to a new one. */
  #begin(x: number, y: number, height: number, text: string): void {
    const size = Math.max(height, this.#size);
    const gap = x - this.#endX;
    const isSameLine = this.#text !== '' && Math.abs(y - this.#endY) < LINE_RISE * size && gap > -size;
    if (!isSameLine) {
      this.#endLine();
      this.#y = y;
    } else if (gap > BLANK_GAP * height && !this.#endsBlank && !text.startsWith(' ')) this.#text += ' ';
    this.#text += text;
    if (text !== '') this.#endsBlank = text.endsWith(' ');
    if (height > this.#size && text.trim() !== '') {
      this.#size = height;
      this.#y = y;
    }
  }

  #endLine(): void {
    // A copy, because a part of the page's content would keep all of it.
    const text = this.#isLatin ? Buffer.from(this.#text, 'latin1').toString('latin1') : this.#text;
    if (text.trim() !== '') this.#lines.push({ text, size: this.#size, y: this.#y });
    this.#text = '';
    this.#endsBlank = false;
    this.#isLatin = true;
    this.#size = 0;
  }
}

function matrixOf(operands: Operands): Matrix {
  return [
    numberOr(1, operands[0]),
    numberOr(0, operands[1]),
    numberOr(0, operands[2]),
    numberOr(1, operands[3]),
    numberOr(0, operands[4]),
    numberOr(0, operands[5]),
  ];
}

function numberOr(usual: number, value: Value | undefined): number {
  if (typeof value === 'number') return value;
  return value === undefined ? usual : Number(value);
}

/** Goes behind an image within the content. */
function skipImage(lexer: Lexer): void {
  const end = /[\s]EI(?=[\s]|$)/g;
  const data = lexer.text.indexOf('ID', lexer.at);
  end.lastIndex = data === -1 ? lexer.text.length : data;
  lexer.at = end.test(lexer.text) ? end.lastIndex : lexer.text.length;
}
