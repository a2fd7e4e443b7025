// Fonts, as far as text needs them: which characters the codes of a string are, and how wide they are.
import { numbersOf, type PdfFile } from './file.ts';
import { textOfGlyph } from './glyph-names.ts';
import { standardWidths } from './standard-widths.ts';
import {
  Bytes,
  type Dictionary,
  isDictionary,
  isKeyword,
  Keyword,
  Lexer,
  Name,
  Unusual,
  type Value,
} from './syntax.ts';
import { encodingInType1 } from './type1.ts';

/** The text of a string, and its width in thousandths of the size. */
export interface Shown {
  readonly text: string;
  readonly width: number;
  readonly codes: number;
  /** Codes that are single-byte blanks, which word spacing widens. */
  readonly blanks: number;
  /** Codes without a known character. */
  readonly unknown: number;
}

export interface Font {
  show(latin1: string): Shown;
}

const MAPPED_MAX = 200_000;

/** Throws Unusual for a font whose characters cannot be told from its dictionary. */
export function readFont(file: PdfFile, value: Value | undefined): Font {
  const font = file.dictionary(value);
  const kind = nameOf(file, font.get('Subtype'));
  const stream = file.stream(font.get('ToUnicode'));
  const mapped = stream === undefined ? undefined : readCMap(file.data(stream).toString('latin1'));
  return kind === 'Type0' ? compositeFont(file, font, mapped) : simpleFont(file, font, kind, mapped);
}

function nameOf(file: PdfFile, value: Value | undefined): string {
  const found = file.get(value);
  return found instanceof Name ? found.name : '';
}

/** Two bytes a code. */
function compositeFont(file: PdfFile, font: Dictionary, mapped: ReadonlyMap<number, string> | undefined): Font {
  if (mapped === undefined || !/^Identity-[HV]$/.test(nameOf(file, font.get('Encoding'))))
    throw new Unusual('a font without characters');
  const descendant = file.dictionary(file.list(font.get('DescendantFonts'))[0]);
  const usual = Number(file.get(descendant.get('DW')) ?? 1_000);
  const widths = compositeWidths(file, descendant.get('W'));
  return {
    show(latin1) {
      let text = '';
      let width = 0;
      let unknown = 0;
      for (let at = 0; at + 1 < latin1.length; at += 2) {
        const code = latin1.charCodeAt(at) * 256 + latin1.charCodeAt(at + 1);
        const character = mapped.get(code);
        if (character === undefined) unknown += 1;
        else text += character;
        width += widths.get(code) ?? usual;
      }
      return { text, width, codes: latin1.length >> 1, blanks: 0, unknown };
    },
  };
}

/** `first [w w w]` or `first last w`, repeated. */
function compositeWidths(file: PdfFile, value: Value | undefined): Map<number, number> {
  const widths = new Map<number, number>();
  const list = file.list(value);
  for (let at = 0; at + 1 < list.length; ) {
    const first = Number(file.get(list[at]));
    const second = file.get(list[at + 1]);
    if (Array.isArray(second)) {
      for (const [index, width] of numbersOf(second).entries()) widths.set(first + index, width);
      at += 2;
      continue;
    }
    const width = Number(file.get(list[at + 2]));
    const last = Math.min(Number(second), first + 65_535);
    for (let code = first; code <= last; code++) widths.set(code, width);
    at += 3;
    if (widths.size > MAPPED_MAX) throw new Unusual('too many widths');
  }
  return widths;
}

/** One byte a code. */
function simpleFont(
  file: PdfFile,
  font: Dictionary,
  kind: string,
  mapped: ReadonlyMap<number, string> | undefined,
): Font {
  // Its glyphs are drawings in a space of their own.
  if (kind === 'Type3') throw new Unusual('a font of drawings');
  const baseFont = nameOf(file, font.get('BaseFont'));
  const standard = standardWidths(baseFont);
  const characters = encodingOf(file, font, { isStandard: standard !== undefined, isMapped: mapped !== undefined });
  if (mapped !== undefined) for (const [code, text] of mapped) if (code < 256) characters[code] = text;
  const widths = simpleWidths(file, font) ?? standard;
  if (widths === undefined) throw new Unusual('a font without widths');
  // Codes that are their characters, as almost all of most texts are.
  const same = Uint8Array.from({ length: 256 }, (_, code) => (characters[code] === String.fromCharCode(code) ? 1 : 0));
  return {
    show(latin1) {
      const { length } = latin1;
      let width = 0;
      let blanks = 0;
      let plain = 0;
      for (let at = 0; at < length; at++) {
        const code = latin1.charCodeAt(at);
        width += widths[code]!;
        plain += same[code]!;
        if (code === 32) blanks += 1;
      }
      const known = plain === length ? { text: latin1, unknown: 0 } : charactersFor(latin1, characters);
      return { ...known, width, codes: length, blanks };
    },
  };
}

/** The characters of codes of one byte. */
function charactersFor(
  latin1: string,
  characters: readonly (string | undefined)[],
): { readonly text: string; readonly unknown: number } {
  let text = '';
  let unknown = 0;
  for (let at = 0; at < latin1.length; at++) {
    const character = characters[latin1.charCodeAt(at)];
    if (character === undefined) unknown += 1;
    else text += character;
  }
  return { text, unknown };
}

function simpleWidths(file: PdfFile, font: Dictionary): Float64Array | undefined {
  const list = file.list(font.get('Widths'));
  if (list.length === 0) return undefined;
  const first = Number(file.get(font.get('FirstChar')) ?? 0);
  const missing = Number(file.get(file.dictionary(font.get('FontDescriptor')).get('MissingWidth')) ?? 0);
  const widths = new Float64Array(256).fill(missing);
  for (const [index, width] of list.entries()) if (first + index < 256) widths[first + index] = Number(file.get(width));
  return widths;
}

const ENCODINGS: Readonly<Record<string, string>> = {
  WinAnsiEncoding: 'windows-1252',
  MacRomanEncoding: 'macintosh',
};

/** The characters of the 256 codes, as the font's encoding names them. */
function encodingOf(
  file: PdfFile,
  font: Dictionary,
  { isStandard, isMapped }: { readonly isStandard: boolean; readonly isMapped: boolean },
): (string | undefined)[] {
  const encoding = file.get(font.get('Encoding'));
  const own = isDictionary(encoding) ? encoding : undefined;
  const base = own === undefined ? nameOf(file, encoding) : nameOf(file, own.get('BaseEncoding'));
  const differences = own === undefined ? [] : file.list(own.get('Differences'));
  const label = ENCODINGS[base];
  const inside = label === undefined && !isMapped ? encodingInside(file, font) : undefined;
  if (label === undefined && inside === undefined && !isStandard && !isMapped && differences.length === 0)
    throw new Unusual('a font without an encoding');
  const characters: (string | undefined)[] =
    label === undefined && (inside !== undefined || !isStandard)
      ? Array.from({ length: 256 }, (_, code) => textOfGlyph(inside?.get(code) ?? ''))
      : charactersOf(label ?? 'windows-1252');
  // Names replace the characters of the base.
  let code = 0;
  for (const one of differences) {
    const value = file.get(one);
    if (typeof value === 'number') code = value;
    else if (value instanceof Name) {
      if (code < 256) characters[code] = textOfGlyph(value.name);
      code += 1;
    }
  }
  return characters;
}

/** Of the other kinds of fonts, the encoding inside is not read. */
function encodingInside(file: PdfFile, font: Dictionary): ReadonlyMap<number, string> | undefined {
  const program = file.stream(file.dictionary(font.get('FontDescriptor')).get('FontFile'));
  return program === undefined ? undefined : encodingInType1(file.data(program).toString('latin1'));
}

function charactersOf(label: string): (string | undefined)[] {
  const text = new TextDecoder(label).decode(Uint8Array.from({ length: 256 }, (_, code) => code));
  return Array.from(text, (character, code) => (code < 32 ? undefined : character));
}

/** The characters of codes, from a ToUnicode map. */
function readCMap(source: string): Map<number, string> {
  const map = new Map<number, string>();
  const lexer = new Lexer(source);
  for (;;) {
    const word = lexer.next();
    if (word instanceof Keyword && word.word === '') return map;
    if (isKeyword(word, 'beginbfchar')) readCharacters(lexer, map);
    else if (isKeyword(word, 'beginbfrange')) readRanges(lexer, map);
    else if (isKeyword(word, 'usecmap')) throw new Unusual('a map upon another');
    if (map.size > MAPPED_MAX) throw new Unusual('too many characters');
  }
}

function readCharacters(lexer: Lexer, map: Map<number, string>): void {
  for (;;) {
    const code = lexer.next();
    if (!(code instanceof Bytes)) return;
    const text = lexer.next();
    if (text instanceof Bytes) map.set(numberOf(code), wideText(text.latin1));
  }
}

function readRanges(lexer: Lexer, map: Map<number, string>): void {
  for (;;) {
    const first = lexer.next();
    if (!(first instanceof Bytes)) return;
    const last = lexer.next();
    const to = lexer.next();
    const from = numberOf(first);
    const end = last instanceof Bytes ? Math.min(numberOf(last), from + 65_535) : from;
    if (Array.isArray(to)) {
      for (const [index, one] of (to as readonly Value[]).entries())
        if (one instanceof Bytes && from + index <= end) map.set(from + index, wideText(one.latin1));
    } else if (to instanceof Bytes) {
      const text = wideText(to.latin1);
      const [head, tail] = [text.slice(0, -1), text.charCodeAt(text.length - 1)];
      for (let code = from; code <= end; code++) map.set(code, head + String.fromCharCode(tail + code - from));
    }
    if (map.size > MAPPED_MAX) return;
  }
}

function numberOf({ latin1 }: Bytes): number {
  let number = 0;
  for (let at = 0; at < latin1.length; at++) number = number * 256 + latin1.charCodeAt(at);
  return number;
}

/** UTF-16, big-endian. */
export function wideText(latin1: string): string {
  let text = '';
  for (let at = 0; at + 1 < latin1.length; at += 2)
    text += String.fromCharCode(latin1.charCodeAt(at) * 256 + latin1.charCodeAt(at + 1));
  return latin1.length === 1 ? latin1 : text;
}
