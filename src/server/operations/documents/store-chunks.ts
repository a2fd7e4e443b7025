// Stores the chunks of a document, a batch at a time, while its thread prepares the next ones.
import { assert } from '../../../engine/base/assert.ts';
import type { ErrorCode } from '../../../engine/base/errors.ts';
import {
  DOCUMENT_BATCHES_OUT_MAX,
  IMPORT_HASHES_LISTED_MAX,
  IMPORT_PROBLEMS_LISTED_MAX,
} from '../../../engine/base/limits.ts';
import type { AddItem, AddOutcome } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { type ChunkBatch, itemsOf, outcomesOf } from '../../documents/chunk-batch.ts';
import type { DocumentChunks } from '../../documents/documents.ts';
import { CHUNKS } from '../codecs.ts';
import { extractFrom, withinRequest } from '../remember/extraction.ts';
import type { ImportOptions } from './schema.ts';

export interface StoredChunks {
  readonly created: number;
  readonly duplicates: number;
  /** Of stored chunks and duplicates, in order; only the first ones. */
  readonly hashes: string[];
  /** Of refused chunks; only the first ones. */
  readonly errors: { index: number; code: ErrorCode; error: string }[];
  readonly refused: number;
  /** Number of beliefs that were extracted. */
  readonly extracted: number;
  readonly warnings: string[];
}

interface Storing {
  readonly batch: ChunkBatch;
  readonly outcomes: Promise<readonly AddOutcome[]>;
}

/** Stores every chunk, and closes the document. */
export async function storeChunks(
  document: Pick<DocumentChunks, 'batches' | 'close'>,
  options: Pick<ImportOptions, 'extract'>,
  context: Context,
): Promise<StoredChunks> {
  const tally = new Tally(options.extract === true, context);
  const storing: Storing[] = [];
  try {
    for await (const batch of document.batches) {
      const outcomes = context.callRaw(CHUNKS, batch.bytes).then(outcomesOf);
      outcomes.catch(() => undefined);
      storing.push({ batch, outcomes });
      const first = storing.length >= DOCUMENT_BATCHES_OUT_MAX ? storing.shift() : undefined;
      if (first !== undefined) await tally.add(first);
    }
    for (const one of storing) await tally.add(one);
  } finally {
    document.close();
  }
  return tally.result();
}

type StoredItem = AddItem & { readonly hash: string };

/** The chunks of a batch that are stored, with their hashes. */
export function sourcesOf({ bytes }: ChunkBatch, outcomes: readonly AddOutcome[]): StoredItem[] {
  return itemsOf(bytes).flatMap((item, at) => {
    const outcome = outcomes[at];
    return outcome === undefined || 'error' in outcome ? [] : [{ ...item, hash: outcome.hash }];
  });
}

class Tally {
  readonly #extracts: boolean;
  readonly #context: Context;
  #created = 0;
  #duplicates = 0;
  #refused = 0;
  #unlisted = 0;
  #extracted = 0;
  readonly #hashes: string[] = [];
  readonly #errors: StoredChunks['errors'] = [];
  readonly #warnings = new Set<string>();

  constructor(extracts: boolean, context: Context) {
    this.#extracts = extracts;
    this.#context = context;
  }

  async add({ batch, outcomes }: Storing): Promise<void> {
    const all = await outcomes;
    assert(all.length === batch.count, 'a batch has an outcome a chunk');
    for (const [at, outcome] of all.entries())
      if ('error' in outcome) this.#refuse(batch.from + at, outcome.error);
      else this.#take(outcome);
    if (this.#extracts) await this.#extract(sourcesOf(batch, all));
  }

  #refuse(index: number, { code, message }: { readonly code: ErrorCode; readonly message: string }): void {
    this.#refused += 1;
    if (this.#errors.length < IMPORT_PROBLEMS_LISTED_MAX) this.#errors.push({ index, code, error: message });
    else this.#unlisted += 1;
  }

  #take({ hash, duplicate, warnings }: Exclude<AddOutcome, { readonly error: unknown }>): void {
    if (duplicate) this.#duplicates += 1;
    else this.#created += 1;
    if (this.#hashes.length < IMPORT_HASHES_LISTED_MAX) this.#hashes.push(hash);
    for (const warning of warnings) this.#warn(warning);
  }

  async #extract(sources: readonly StoredItem[]): Promise<void> {
    const { hashes, duplicates, warnings } = await extractFrom(
      sources,
      this.#context,
      withinRequest(this.#context, undefined),
    );
    this.#extracted += hashes.length - duplicates.length;
    for (const warning of warnings) this.#warn(warning);
  }

  #warn(text: string): void {
    if (this.#warnings.size < WARNINGS_MAX) this.#warnings.add(text);
  }

  result(): StoredChunks {
    const warnings = [...this.#warnings];
    const stored = this.#created + this.#duplicates;
    if (this.#hashes.length < stored)
      warnings.push(`only the hashes of the first ${this.#hashes.length} chunks are listed`);
    if (this.#unlisted > 0) warnings.push(`${this.#unlisted} more errors are not listed`);
    return {
      created: this.#created,
      duplicates: this.#duplicates,
      hashes: this.#hashes,
      errors: this.#errors,
      refused: this.#refused,
      extracted: this.#extracted,
      warnings,
    };
  }
}

/** Chunks often share a warning, so it is reported once. */
const WARNINGS_MAX = 100;
