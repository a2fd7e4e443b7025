// A row of the table of grain types (table.ts). Rows are plain data, so that every layer can read them: the codec reads
// the bytes, the API the names, CAL the vocabulary and the output. Code for a type stays in the layer that runs it, in a
// table or switch over all types, so that the compiler names each place that lacks a new type.
import type { Kind } from '../codec/kind.ts';
import type { QueryField } from './query-field.ts';

/** `index`: kept beside the blob, never in it. `reserved`: a key of an old version that is never written again. */
export type FieldStorage = 'blob' | 'index' | 'reserved';

/** A field of the grain format. A grain of any type may hold it; a type lists those that the format made for it. */
export type FieldRow = readonly [name: string, short: string, kind: Kind, storage?: FieldStorage];

/** The properties of a type in the grain format. A changed value gives grains other bytes. */
export interface TypeFormat {
  /** The type's number in the header of a blob. Never changed, never used again. */
  readonly byte: number;
  /** Another type string that blobs of this byte may carry; kept as it is, since it is hashed. */
  readonly alias?: string;
  readonly fields: readonly FieldRow[];
  /** Besides created_at, which every type requires. Types with alternatives say the rest in grain/rules/validate.ts. */
  readonly required: readonly string[];
  /** Required fields that may not be an empty string or list. */
  readonly filled: readonly string[];
  /** True where the same words at another time are another grain: `created_at` is part of its identity. */
  readonly dated: boolean;
}

/** The properties of a type in the service's contract, with the names of requests and answers. */
export interface TypeNames {
  /** The contract's names, besides those of every type, with blanks between. */
  readonly names: string;
  /** Other ways to write a name in a request, with the proper name of each. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Fields of a blob that an answer calls by another name. */
  readonly answers: Readonly<Record<string, string>>;
  /** The `temporal_type` of an answer where the grain has none. */
  readonly temporalType: 'state' | 'event';
}

/** The properties of a type in CAL: its words, its fields and its output. */
export interface TypeQuery {
  /** After RECALL, in lower case; the singular is the name of the type. */
  readonly plural: string;
  /** The names of the type in other versions of CAL and in other stores, in the singular. */
  readonly foreign: readonly string[];
  readonly fields: readonly QueryField[];
  /**
   * The fields of an answer that CAL reads as `object`: the first that is not empty. Undefined: `object` itself, empty
   * or not.
   */
  readonly object: readonly string[] | undefined;
  /** True where `relation` stands in the triple index as CAL reads it. */
  readonly relationIndexed: boolean;
  /** True where `object` does. */
  readonly objectIndexed: boolean;
  /** True: ADD takes the type. */
  readonly addable: boolean;
  readonly output: TypeOutput;
}

export interface TypeOutput {
  /** `name=field` for each attribute, with blanks between; a `?` behind those that summaries leave out. */
  readonly attributes: string;
  /** CAL fields of the formats that hold data, with blanks between; a `?` behind those that summaries leave out. */
  readonly data: string;
  /** Columns of a TOON table, with blanks between: attributes, and `content` for the text. */
  readonly columns: string;
  readonly line: TypeLine;
}

/** A grain in a line for people. */
export interface TypeLine {
  /** The attribute that stands before the text. */
  readonly lead?: string;
  /** True: the lead begins the sentence that the text ends, so no colon parts them. */
  readonly isSentence?: boolean;
  /** The attribute that stands in brackets behind the text. */
  readonly note: string;
}

export interface TypeRow {
  readonly format: TypeFormat;
  readonly api: TypeNames;
  readonly cal: TypeQuery;
}
