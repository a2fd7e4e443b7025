// Tails that no longer change, as a seal reads them: those of the thread that publishes, or their copies in another one.
// A copy crosses threads in pieces, so that taking it blocks nobody for long.
import { assert } from '../../base/assert.ts';
import type { PrefixTable } from '../address/tail.ts';
import type { TailContext } from '../context/segment.ts';
import { type ListColumns, ListTable } from '../files/list-table.ts';
import { NUMBER_FIELDS } from '../numbers/tail.ts';
import type { FrozenText } from '../text/segment.ts';
import { WordLog } from '../text/word-log.ts';
import type { NumberField } from './part.ts';
import { facetTextOf, type Tail, type TailSet } from './tail.ts';

/** The members of a tail that a seal reads. */
export type FrozenTail = Pick<
  Tail,
  | 'memory'
  | 'number'
  | 'docCount'
  | 'ordinals'
  | 'createdAtMs'
  | 'blobBytes'
  | 'recordBytes'
  | 'lastOrdinal'
  | 'facetEntries'
  | 'keyedEntries'
  | 'facetText'
  | 'numbers'
> & { readonly text: FrozenText; readonly context: TailContext | undefined };

export interface FrozenTails {
  readonly tails: ReadonlyMap<number, FrozenTail>;
  readonly addresses: Pick<PrefixTable, 'entries'>;
  readonly identities: Pick<PrefixTable, 'entries'>;
}

type Columns = Int32Array<ArrayBuffer>;
type TableName = 'facets' | 'keyed';

/** A tail without the terms and words of its texts. */
interface TailColumns extends Pick<FrozenTail, 'memory' | 'number' | 'docCount' | 'lastOrdinal' | 'context'> {
  readonly ordinals: Uint32Array;
  readonly createdAtMs: Float64Array;
  readonly blobBytes: Uint32Array;
  readonly recordBytes: Uint32Array;
  readonly numbers: readonly (readonly [NumberField, Float64Array])[];
  readonly newestFacet: number;
  readonly newestKeyed: number;
  readonly lengths: Uint16Array;
  readonly wordCount: number;
}

/** A piece of a copy. Pieces are taken in the order in which they were made. Their arrays belong to who takes them. */
export type TailPiece =
  | { readonly kind: 'table'; readonly table: TableName; readonly columns: ListColumns }
  | { readonly kind: 'keys'; readonly table: TableName; readonly keys: (string | number)[] }
  | { readonly kind: 'prefixes'; readonly addresses: Columns; readonly identities: Columns }
  | { readonly kind: 'tail'; readonly tail: TailColumns }
  /** Terms and words of the last tail. */
  | { readonly kind: 'terms'; readonly terms: readonly string[] }
  | { readonly kind: 'words'; readonly words: Columns };

/** Keys or terms in a piece. */
const PIECE_TEXTS = 4_096;

/** Copies tails that no longer change. Work between two pieces takes some milliseconds at most. */
export function* piecesOf(set: TailSet): Generator<TailPiece, void, void> {
  for (const name of ['facets', 'keyed'] as const) {
    const table = set[name];
    yield { kind: 'table', table: name, columns: table.columns() };
    for (let from = 0; from < table.size; from += PIECE_TEXTS)
      yield { kind: 'keys', table: name, keys: table.keys(from, from + PIECE_TEXTS) };
  }
  yield { kind: 'prefixes', addresses: copyOf(set.addresses), identities: copyOf(set.identities) };
  // A memory that is dropped meanwhile is no longer in the map.
  for (const tail of set.tails.values()) {
    yield { kind: 'tail', tail: columnsOf(tail) };
    const { names, words } = tail.text;
    for (let from = 0; from < names.length; from += PIECE_TEXTS)
      yield { kind: 'terms', terms: names.slice(from, from + PIECE_TEXTS) };
    for (let chunk = 0; chunk < words.chunks; chunk++) yield { kind: 'words', words: words.chunk(chunk) };
  }
}

function copyOf(table: PrefixTable): Columns {
  return Int32Array.from(table.entries());
}

function columnsOf(tail: Tail): TailColumns {
  const { memory, number, docCount, lastOrdinal, context, text } = tail;
  const numbers: [NumberField, Float64Array][] = [];
  for (const field of NUMBER_FIELDS) {
    const column = tail.numbers(field);
    if (column !== undefined) numbers.push([field, column.slice(0, docCount)]);
  }
  return {
    memory,
    number,
    docCount,
    lastOrdinal,
    context:
      context === undefined ? undefined : { codes: context.codes.slice(0, docCount), speakers: [...context.speakers] },
    ordinals: tail.ordinals.slice(0, docCount),
    createdAtMs: tail.createdAtMs.slice(0, docCount),
    blobBytes: tail.blobBytes.slice(0, docCount),
    recordBytes: tail.recordBytes.slice(0, docCount),
    numbers,
    newestFacet: tail.facetEntries.newest,
    newestKeyed: tail.keyedEntries.newest,
    lengths: text.lengths.slice(0, docCount),
    wordCount: text.wordCount,
  };
}

/** The buffers of a piece, which can be transferred to another thread. */
export function buffersOf(piece: TailPiece): ArrayBuffer[] {
  switch (piece.kind) {
    case 'table':
      return [piece.columns.entries.buffer, piece.columns.nodes.buffer];
    case 'prefixes':
      return [piece.addresses.buffer, piece.identities.buffer];
    case 'words':
      return [piece.words.buffer];
    default:
      return [];
  }
}

/** A copy that grows by pieces. */
export class TailCopy implements FrozenTails {
  readonly tails = new Map<number, FrozenTail>();
  addresses = { entries: (): Int32Array => NO_ENTRIES };
  identities = { entries: (): Int32Array => NO_ENTRIES };
  readonly #columns: Partial<Record<TableName, ListColumns>> = {};
  readonly #keys: Record<TableName, (string | number)[]> = { facets: [], keyed: [] };
  #facets: ListTable | undefined;
  #keyed: ListTable | undefined;
  #terms: string[] = [];
  #words: Columns[] = [];

  take(piece: TailPiece): void {
    switch (piece.kind) {
      case 'table':
        this.#columns[piece.table] = piece.columns;
        break;
      case 'keys':
        // In a loop: arguments are limited in number.
        for (const key of piece.keys) this.#keys[piece.table].push(key);
        break;
      case 'prefixes':
        this.addresses = { entries: () => piece.addresses };
        this.identities = { entries: () => piece.identities };
        this.#facets = this.#table('facets');
        this.#keyed = this.#table('keyed');
        break;
      case 'tail':
        this.#addTail(piece.tail);
        break;
      case 'terms':
        for (const term of piece.terms) this.#terms.push(term);
        break;
      case 'words':
        this.#words.push(piece.words);
        break;
    }
  }

  #table(name: TableName): ListTable {
    const columns = this.#columns[name];
    assert(columns !== undefined, 'a table comes before its tails');
    return ListTable.of(columns, this.#keys[name]);
  }

  #addTail(columns: TailColumns): void {
    const { numbers, newestFacet, newestKeyed, lengths, wordCount, ...rest } = columns;
    const facets = this.#facets;
    const keyed = this.#keyed;
    assert(facets !== undefined && keyed !== undefined, 'the tables come before the tails');
    this.#terms = [];
    this.#words = [];
    const names = this.#terms;
    const log = WordLog.of(this.#words, wordCount);
    const byField = new Map(numbers);
    this.tails.set(rest.memory, {
      ...rest,
      facetEntries: { table: facets, newest: newestFacet },
      keyedEntries: { table: keyed, newest: newestKeyed },
      facetText: (entry) => facetTextOf(facets, entry),
      numbers: (field) => byField.get(field),
      text: {
        names,
        wordCount,
        lengths,
        docCount: rest.docCount,
        countWords: (from, to, counts) => log.countWords(from, to, counts),
        spreadWords: (from, to, next, pairs) => log.spread(from, to, next, pairs),
      },
    });
  }
}

const NO_ENTRIES = new Int32Array(0);
