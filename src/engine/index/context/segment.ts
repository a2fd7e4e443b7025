// The context of a chunk's events, in the section `context`. A chunk without events does not have it.
//
//   codes     for each doc, its code (turn.ts). A run of docs without a code is 0, then the run's length - 1.
//   speakers  for each speaker, by number: length, UTF-8
//   trailer   offset of the speakers, number of speakers
//
// Numbers are variable-length integers. The docs of each session are in the facets (facet/segment.ts).
import type { FacetChunk } from '../facet/segment.ts';
import { type ChunkSink, type ChunkSource, CorruptBlock, type Sliced } from '../files/section.ts';
import { SectionCursor } from '../files/section-cursor.ts';
import { readTrailer, SectionWriter } from '../files/section-writer.ts';
import type { DecodedCache } from '../heap-budget.ts';
import { DROPPED, type MergeInput, SLICE_STEPS } from '../parts/merge-input.ts';
import { sortTurns, speakerOf, type TurnContext, withSpeaker } from './turn.ts';

/** Takes the codes of all docs in order. Numbers speakers in the order of their first event. */
class ContextWriter {
  readonly #sink: ChunkSink;
  readonly #speakers = new Map<string, number>();
  #section: SectionWriter | undefined;
  /** Docs without a code since the last doc with one. */
  #empty = 0;

  constructor(sink: ChunkSink) {
    this.#sink = sink;
  }

  add(code: number, speaker: string | undefined): void {
    if (code === 0) {
      this.#empty += 1;
      return;
    }
    const section = this.#begun();
    this.#writeEmpty(section);
    section.bytes.varint(withSpeaker(code, speaker === undefined ? 0 : this.#numberOf(speaker)));
    section.settle();
  }

  finish(): void {
    const section = this.#section;
    if (section === undefined) return;
    this.#writeEmpty(section);
    const start = section.position;
    for (const name of this.#speakers.keys()) {
      const bytes = Buffer.from(name);
      section.bytes.varint(bytes.length);
      section.bytes.bytes(bytes);
      section.settle();
    }
    section.finish([start, this.#speakers.size]);
  }

  #begun(): SectionWriter {
    this.#section ??= new SectionWriter(this.#sink.section('context'));
    return this.#section;
  }

  #writeEmpty(section: SectionWriter): void {
    if (this.#empty === 0) return;
    section.bytes.varint(0);
    section.bytes.varint(this.#empty - 1);
    this.#empty = 0;
  }

  #numberOf(speaker: string): number {
    let number = this.#speakers.get(speaker);
    if (number === undefined) {
      number = this.#speakers.size + 1;
      this.#speakers.set(speaker, number);
    }
    return number;
  }
}

/** The context of a tail's events: `codes` by doc, and speakers by number from 1. */
export interface TailContext {
  readonly codes: Uint32Array;
  readonly speakers: readonly string[];
}

/** Writes the context of a tail's `docCount` docs; undefined: it has no event. */
export function* encodeContext(context: TailContext | undefined, docCount: number, sink: ChunkSink): Sliced<void> {
  if (context === undefined) return;
  const { codes, speakers } = context;
  const writer = new ContextWriter(sink);
  for (let doc = 0; doc < docCount; doc++) {
    const code = codes[doc] ?? 0;
    writer.add(code, speakers[speakerOf(code) - 1]);
    if (doc % SLICE_STEPS === SLICE_STEPS - 1) yield;
  }
  writer.finish();
}

/** Merges the context of the docs that the inputs keep. A speaker without remaining events is left out. */
export function* mergeContext(inputs: readonly MergeInput[], sink: ChunkSink): Sliced<void> {
  const writer = new ContextWriter(sink);
  let steps = 0;
  for (const { source, docCount, docMap } of inputs) {
    const section = readSection(source);
    const codes = section === undefined ? undefined : new CodeCursor(source, section.start);
    for (let doc = 0; doc < docCount; doc++) {
      const code = codes?.next() ?? 0;
      if (docMap[doc] !== DROPPED) writer.add(code, section?.speakers[speakerOf(code) - 1]);
      if (++steps % SLICE_STEPS === 0) yield;
    }
  }
  writer.finish();
}

interface Section {
  /** Where the speakers begin. */
  readonly start: number;
  readonly speakers: readonly string[];
}

function readSection(source: ChunkSource): Section | undefined {
  const section = source.section('context');
  if (section.length === 0) return undefined;
  const [start = 0, count = 0] = readTrailer(section).numbers;
  const cursor = new SectionCursor(section, start);
  const speakers = Array.from({ length: count }, () => {
    const bytes = cursor.bytes(cursor.varint());
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  });
  return { start, speakers };
}

class CodeCursor {
  readonly #cursor: SectionCursor;
  #empty = 0;

  constructor(source: ChunkSource, end: number) {
    this.#cursor = new SectionCursor(source.section('context'), 0, end);
  }

  /** The code of the next doc. */
  next(): number {
    if (this.#empty > 0) {
      this.#empty -= 1;
      return 0;
    }
    const code = this.#cursor.varint();
    if (code === 0) this.#empty = this.#cursor.varint();
    return code;
  }

  /** True when every code was read. */
  get done(): boolean {
    return this.#empty === 0 && this.#cursor.done;
  }
}

/** Heap bytes of a chunk in addition to its arrays. */
const HEAP_BYTES = 1_000;
const SPEAKER_BYTES = 60;
const SESSION_BYTES = 120;

export class ContextChunk {
  readonly #source: ChunkSource;
  readonly #docCount: number;
  readonly #facets: FacetChunk;
  readonly #createdAtMs: () => Float64Array;
  readonly #cache: DecodedCache;

  constructor(parts: {
    readonly source: ChunkSource;
    readonly docCount: number;
    readonly facets: FacetChunk;
    readonly createdAtMs: () => Float64Array;
    readonly cache: DecodedCache;
  }) {
    this.#source = parts.source;
    this.#docCount = parts.docCount;
    this.#facets = parts.facets;
    this.#createdAtMs = parts.createdAtMs;
    this.#cache = parts.cache;
  }

  /** Undefined when the chunk has no event. */
  get(): TurnContext | undefined {
    const known = this.#cache.get<Decoded | null>('context');
    if (known !== undefined) return known ?? undefined;
    const section = readSection(this.#source);
    if (section === undefined) {
      this.#cache.set('context', null, 0);
      return undefined;
    }
    const codes = decodeCodes(this.#source, section.start, this.#docCount);
    const decoded = new Decoded(codes, section.speakers, this.#facets, this.#createdAtMs());
    this.#cache.set('context', decoded, decoded.heapBytes);
    return decoded;
  }

  /** Checks that every doc has a code, and that each code names an existing speaker. Throws CorruptBlock. */
  *verify(): Sliced<void> {
    const section = readSection(this.#source);
    if (section === undefined) return;
    const cursor = new CodeCursor(this.#source, section.start);
    for (let doc = 0; doc < this.#docCount; doc++) {
      if (speakerOf(cursor.next()) > section.speakers.length)
        throw new CorruptBlock('context', doc, 'a speaker is missing');
      if (doc % SLICE_STEPS === SLICE_STEPS - 1) yield;
    }
    if (!cursor.done) throw new CorruptBlock('context', section.start, 'there are more codes than docs');
  }
}

function decodeCodes(source: ChunkSource, end: number, docCount: number): Uint32Array {
  const codes = new Uint32Array(docCount);
  const cursor = new CodeCursor(source, end);
  for (let doc = 0; doc < docCount; doc++) codes[doc] = cursor.next();
  return codes;
}

class Decoded implements TurnContext {
  readonly codes: Uint32Array;
  readonly sessions: Uint32Array;
  readonly #speakers: readonly string[];
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** Turns of all sessions, concatenated. Session i ends at `ends[i]`, where the next one begins. */
  readonly #turns: Uint32Array;
  readonly #ends: number[] = [0];

  constructor(codes: Uint32Array, speakers: readonly string[], facets: FacetChunk, createdAtMs: Float64Array) {
    this.codes = codes;
    this.#speakers = speakers;
    this.sessions = new Uint32Array(codes.length);
    this.#turns = new Uint32Array(codes.length);
    let end = 0;
    for (const [name, docs] of facets.lists('session')) {
      const start = end;
      for (const doc of docs) if (codes[doc] !== 0) this.#turns[end++] = doc;
      if (end === start) continue;
      this.#names.push(name);
      const number = this.#names.length;
      this.#numbers.set(name, number);
      const turns = this.#turns.subarray(start, end);
      for (const doc of turns) this.sessions[doc] = number;
      sortTurns(turns, createdAtMs);
      this.#ends.push(end);
    }
  }

  get heapBytes(): number {
    const names = this.#names.reduce((sum, name) => sum + name.length * 2 + SESSION_BYTES, 0);
    const speakers = this.#speakers.reduce((sum, name) => sum + name.length * 2 + SPEAKER_BYTES, 0);
    return HEAP_BYTES + this.codes.length * 12 + names + speakers;
  }

  get sessionCount(): number {
    return this.#names.length;
  }

  turns(session: number): Uint32Array {
    return this.#turns.subarray(this.#ends[session - 1]!, this.#ends[session]!);
  }

  sessionName(session: number): string {
    return this.#names[session - 1]!;
  }

  sessionNumber(name: string): number {
    return this.#numbers.get(name) ?? 0;
  }

  speaker(speaker: number): string {
    return this.#speakers[speaker - 1]!;
  }
}
