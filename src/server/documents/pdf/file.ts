// A PDF file as numbered objects: its cross-reference tables or streams, object streams, and the filters of streams.
import { constants, inflateSync } from 'node:zlib';
import { type DocumentLimits, tooLarge } from '../limits.ts';
import {
  type Dictionary,
  isDictionary,
  isKeyword,
  isList,
  Keyword,
  Lexer,
  Name,
  Reference,
  Unusual,
  type Value,
} from './syntax.ts';

type Place = { readonly offset: number } | { readonly stream: number; readonly index: number };

/** An object with a stream: its dictionary, and where its bytes are. */
export interface Stream {
  readonly dictionary: Dictionary;
  readonly offset: number;
}

const OBJECTS_MAX = 2_000_000;
const TABLES_MAX = 1_000;
const STREAMS_KEPT_MAX = 64;

export class PdfFile {
  readonly #bytes: Buffer;
  readonly #text: string;
  readonly #limits: DocumentLimits;
  readonly #places = new Map<number, Place>();
  readonly #objectStreams = new Map<number, readonly Value[]>();
  #inflated = 0;
  readonly trailer: Dictionary;

  /** Throws Unusual for a file that is encrypted or whose tables are damaged. */
  constructor(bytes: Uint8Array, limits: DocumentLimits) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#text = this.#bytes.toString('latin1');
    this.#limits = limits;
    const start = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(this.#text.slice(-2_048))?.[1];
    if (start === undefined) throw new Unusual('no tables');
    this.trailer = this.#readTables(Number(start));
    if (this.trailer.has('Encrypt')) throw new Unusual('encrypted');
  }

  /** Reads the tables from the newest to the oldest: the first one that names an object has its right place. */
  #readTables(start: number): Dictionary {
    let newest: Dictionary | undefined;
    const seen = new Set<number>();
    const waiting = [start];
    for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
      if (seen.has(at) || seen.size > TABLES_MAX) throw new Unusual('tables in a circle');
      seen.add(at);
      const trailer = /^\s*xref/.test(this.#text.slice(at, at + 20)) ? this.#readTable(at) : this.#readTableStream(at);
      newest ??= trailer;
      for (const name of ['XRefStm', 'Prev']) {
        const next = trailer.get(name);
        if (typeof next === 'number') waiting.push(next);
      }
    }
    if (newest === undefined) throw new Unusual('no tables');
    return newest;
  }

  #readTable(at: number): Dictionary {
    const lexer = new Lexer(this.#text, this.#text.indexOf('xref', at) + 4);
    for (;;) {
      const first = lexer.next();
      if (isKeyword(first, 'trailer')) break;
      const count = lexer.next();
      if (typeof first !== 'number' || typeof count !== 'number' || count > OBJECTS_MAX) throw new Unusual('bad table');
      for (let number = first; number < first + count; number++) {
        const [offset, , kind] = [lexer.next(), lexer.next(), lexer.next()];
        if (typeof offset !== 'number' || !(kind instanceof Keyword)) throw new Unusual('bad table');
        if (kind.word === 'n') this.#place(number, { offset });
      }
    }
    return dictionaryOf(lexer.next());
  }

  #readTableStream(at: number): Dictionary {
    const stream = this.#streamAt(at);
    const { dictionary } = stream;
    const widths = numbersOf(dictionary.get('W'));
    const [typeBytes = 0, secondBytes = 0, thirdBytes = 0] = widths;
    const data = this.data(stream);
    const ranges = numbersOf(dictionary.get('Index') ?? [0, Number(dictionary.get('Size'))]);
    let from = 0;
    const take = (count: number): number => {
      let value = 0;
      for (let i = 0; i < count; i++) value = value * 256 + (data[from++] ?? 0);
      return value;
    };
    for (let range = 0; range + 1 < ranges.length; range += 2) {
      const [first = 0, count = 0] = ranges.slice(range);
      for (let number = first; number < first + count && from < data.length; number++) {
        const type = typeBytes === 0 ? 1 : take(typeBytes);
        const [second, third] = [take(secondBytes), take(thirdBytes)];
        if (type === 1) this.#place(number, { offset: second });
        else if (type === 2) this.#place(number, { stream: second, index: third });
      }
    }
    return dictionary;
  }

  #place(number: number, place: Place): void {
    if (this.#places.size >= OBJECTS_MAX) throw new Unusual('too many objects');
    if (!this.#places.has(number)) this.#places.set(number, place);
  }

  /** The object behind a reference; other values are returned as they are, and streams as their dictionaries. */
  get(value: Value | undefined): Value {
    let found: Value = value ?? null;
    for (let steps = 0; found instanceof Reference; steps++) {
      if (steps > 16) throw new Unusual('references in a circle');
      found = this.#object(found.number);
    }
    return found;
  }

  #object(number: number): Value {
    const place = this.#places.get(number);
    if (place === undefined) return null;
    if ('offset' in place) return this.#lexerAt(place.offset, number).next();
    return this.#objectsOf(place.stream)[place.index] ?? null;
  }

  #lexerAt(offset: number, number?: number): Lexer {
    const lexer = new Lexer(this.#text, offset);
    const own = lexer.next();
    lexer.next();
    if (!isKeyword(lexer.next(), 'obj') || (number !== undefined && own !== number))
      throw new Unusual('misplaced object');
    return lexer;
  }

  #objectsOf(number: number): readonly Value[] {
    const known = this.#objectStreams.get(number);
    if (known !== undefined) return known;
    const stream = this.stream(new Reference(number));
    if (stream === undefined) throw new Unusual('no object stream');
    const text = this.data(stream).toString('latin1');
    const lexer = new Lexer(text);
    const count = Number(stream.dictionary.get('N'));
    const first = Number(stream.dictionary.get('First'));
    const offsets: number[] = [];
    for (let i = 0; i < count && lexer.at < text.length; i++) {
      lexer.next();
      offsets.push(first + Number(lexer.next()));
    }
    const objects = offsets.map((offset) => new Lexer(text, offset).next());
    const [oldest] = this.#objectStreams.keys();
    if (this.#objectStreams.size >= STREAMS_KEPT_MAX && oldest !== undefined) this.#objectStreams.delete(oldest);
    this.#objectStreams.set(number, objects);
    return objects;
  }

  dictionary(value: Value | undefined): Dictionary {
    return dictionaryOf(this.get(value));
  }

  list(value: Value | undefined): readonly Value[] {
    const found = this.get(value);
    return isList(found) ? found : [];
  }

  /** The stream behind a reference; undefined for another object. */
  stream(value: Value | undefined): Stream | undefined {
    if (!(value instanceof Reference)) return undefined;
    const place = this.#places.get(value.number);
    return place === undefined || !('offset' in place) ? undefined : this.#streamAt(place.offset);
  }

  #streamAt(offset: number): Stream {
    const lexer = this.#lexerAt(offset);
    const dictionary = dictionaryOf(lexer.next());
    if (!isKeyword(lexer.next(), 'stream')) throw new Unusual('no stream');
    const at = this.#text.startsWith('\r\n', lexer.at) ? lexer.at + 2 : lexer.at + 1;
    return { dictionary, offset: at };
  }

  /** The bytes of a stream behind its filters. Throws LIM-E003 when all streams together are too long. */
  data({ dictionary, offset }: Stream): Buffer {
    const length = this.get(dictionary.get('Length'));
    if (typeof length !== 'number' || offset + length > this.#bytes.length) throw new Unusual('bad length');
    const raw = this.#bytes.subarray(offset, offset + length);
    const filters = this.#listed(dictionary.get('Filter')).map((filter) => (filter instanceof Name ? filter.name : ''));
    if (filters.length === 0) return this.#counted(raw);
    if (filters.length > 1 || (filters[0] !== 'FlateDecode' && filters[0] !== 'Fl')) throw new Unusual('other filters');
    const [parameters] = this.#listed(dictionary.get('DecodeParms'));
    return unpredicted(this.#inflate(raw), this, parameters);
  }

  #listed(value: Value | undefined): readonly Value[] {
    const found = this.get(value);
    if (found === null) return [];
    return isList(found) ? found.map((one) => this.get(one)) : [found];
  }

  #inflate(raw: Buffer): Buffer {
    const left = this.#limits.inflatedBytes - this.#inflated;
    try {
      // Many writers leave the checksum out.
      return this.#counted(
        inflateSync(raw, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: Math.max(1, left) }),
      );
    } catch (error) {
      if (error instanceof RangeError) throw this.#expanded();
      throw new Unusual('bad stream', { cause: error });
    }
  }

  #counted(bytes: Buffer): Buffer {
    this.#inflated += bytes.length;
    if (this.#inflated > this.#limits.inflatedBytes) throw this.#expanded();
    return bytes;
  }

  #expanded(): Error {
    return tooLarge(`expands to more than ${this.#limits.inflatedBytes} bytes`);
  }
}

function dictionaryOf(value: Value): Dictionary {
  return isDictionary(value) ? value : EMPTY;
}

const EMPTY: Dictionary = new Map();

export function numbersOf(value: Value | undefined): number[] {
  return isList(value) ? value.map(Number) : [];
}

/** Undoes the predictor of rows, which tables use; another one is left to PDF.js. */
function unpredicted(data: Buffer, file: PdfFile, parameters: Value | undefined): Buffer {
  const settings = file.dictionary(parameters);
  const predictor = Number(settings.get('Predictor') ?? 1);
  if (predictor === 1) return data;
  const columns = Number(settings.get('Columns') ?? 1);
  const isPlain = Number(settings.get('Colors') ?? 1) === 1 && Number(settings.get('BitsPerComponent') ?? 8) === 8;
  if (predictor < 10 || !isPlain || !(columns > 0)) throw new Unusual('other predictor');
  const rows = Math.floor(data.length / (columns + 1));
  const out = Buffer.alloc(rows * columns);
  for (let row = 0; row < rows; row++) {
    const from = row * (columns + 1);
    const filter = data[from];
    if (filter !== 0 && filter !== 1 && filter !== 2) throw new Unusual('other predictor');
    for (let i = 0; i < columns; i++) {
      const at = row * columns + i;
      const before = filter === 0 ? 0 : filter === 1 ? (i === 0 ? 0 : out[at - 1]) : row === 0 ? 0 : out[at - columns];
      out[at] = (data[from + 1 + i]! + (before ?? 0)) & 0xff;
    }
  }
  return out;
}
