// Cuts a document into chunks. A chunk belongs to one section, so its page and its headings are exact. Windows of a section
// have at most `size` characters (UTF-16 units) and end at a paragraph, else at a sentence, else at a word.
import { EngineError } from '../../engine/base/errors.ts';
import { DOCUMENT_CHUNKS_MAX } from '../../engine/base/limits.ts';
import type { ParsedDocument, Place, Section } from './document.ts';

export interface ChunkWindow {
  /** Most characters of a chunk. */
  readonly size: number;
  /** Characters of a chunk that its successor repeats, at most; less than `size`. */
  readonly overlap: number;
}

export interface Chunk extends Place {
  readonly text: string;
  /** Position among the document's chunks, from 0. */
  readonly index: number;
  readonly count: number;
}

/** Throws LIM-E003 for a document of too many chunks. */
export function chunksOf(document: Pick<ParsedDocument, 'sections'>, window: ChunkWindow): Chunk[] {
  const spans: { readonly section: Section; readonly from: number; readonly to: number }[] = [];
  for (const section of document.sections)
    for (const [from, to] of spansOf(section.text, window)) {
      spans.push({ section, from, to });
      if (spans.length > DOCUMENT_CHUNKS_MAX)
        throw new EngineError('LIM-E003', `the document has more than ${DOCUMENT_CHUNKS_MAX} chunks`);
    }
  return spans.map(({ section: { text, ...place }, from, to }, index) => ({
    ...place,
    text: text.slice(from, to),
    index,
    count: spans.length,
  }));
}

/** The ranges of a text's chunks, without blanks at their ends. Every other character is in at least one of them. */
export function* spansOf(text: string, window: ChunkWindow): Generator<[from: number, to: number]> {
  const { size } = window;
  // A window must be longer than what it repeats, even if it ends early to keep a surrogate pair whole.
  const overlap = Math.max(0, Math.min(window.overlap, size - 2));
  let from = skipBlanks(text, 0);
  while (from < text.length) {
    const to = text.length - from <= size ? text.length : cutOf(text, from, from + size, overlap);
    yield [from, skipBlanksBack(text, to, from)];
    const rest = skipBlanks(text, to);
    if (rest >= text.length) return;
    from = nextStart(text, from, rest, overlap);
  }
}

/** Where a window that begins at `from` ends: after `from`, at most at `most`. */
function cutOf(text: string, from: number, most: number, overlap: number): number {
  // The window must be longer than what its successor repeats of it, and a short paragraph is no reason for a short
  // chunk.
  const least = from + Math.max(overlap, Math.floor((most - from) / 2)) + 1;
  // `most` itself may be a boundary, so one more character is looked at.
  const window = text.slice(least, most + 1);
  const paragraph = window.lastIndexOf('\n\n');
  if (paragraph !== -1) return least + paragraph;
  const sentence = lastSentenceEnd(window);
  if (sentence !== -1) return Math.min(least + sentence, most);
  for (let at = window.length - 1; at >= 0; at--) if (isBlank(window.charCodeAt(at))) return least + at;
  return splitsPair(text, most) && most - 1 > from ? most - 1 : most;
}

/** Position behind the last sentence of `window`, or -1. */
function lastSentenceEnd(window: string): number {
  for (let at = window.length - 1; at > 0; at--) {
    const before = window.charCodeAt(at - 1);
    // Sentences of Chinese and Japanese have no blank behind them.
    if (before === 0x3002 || before === 0xff01 || before === 0xff1f) return at;
    if (!isBlank(window.charCodeAt(at))) continue;
    if (before === 0x0a) return at;
    if (before === 0x2e || before === 0x21 || before === 0x3f || before === 0x061f || before === 0x0964) return at;
  }
  return -1;
}

/**
 * Where the window after [from, rest) begins: at the first word within the overlap, else with the overlap exactly. It
 * goes beyond `rest`, since every window is longer than the overlap.
 */
function nextStart(text: string, from: number, rest: number, overlap: number): number {
  const wanted = Math.max(rest - overlap, from + 1);
  for (let at = wanted; at < rest; at++)
    if (isBlank(text.charCodeAt(at - 1)) && !isBlank(text.charCodeAt(at))) return at;
  if (wanted >= rest || isBlank(text.charCodeAt(rest - 1))) return rest;
  return splitsPair(text, wanted) ? wanted + 1 : wanted;
}

/** True when a cut before `at` would split a surrogate pair. */
function splitsPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x09 || unit === 0xa0 || unit === 0x3000 || unit === 0x0d;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  return at;
}

function skipBlanksBack(text: string, to: number, least: number): number {
  let at = to;
  while (at > least && isBlank(text.charCodeAt(at - 1))) at--;
  return at;
}
