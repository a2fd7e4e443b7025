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
import { grainOfChunk, type SourceFile } from '../../documents/chunk-grain.ts';
import type { DocumentChunks } from '../../documents/documents.ts';
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

interface Batch {
  /** Position of its first chunk in the document. */
  readonly from: number;
  readonly items: readonly AddItem[];
  readonly outcomes: Promise<readonly AddOutcome[]>;
}

/** Stores every chunk, and closes the document. */
export async function storeChunks(
  document: Pick<DocumentChunks, 'batches' | 'close'>,
  file: SourceFile,
  options: ImportOptions,
  context: Context,
): Promise<StoredChunks> {
  const tally = new Tally(options.extract === true, context);
  const fields = {
    ...options,
    confidence: options.confidence ?? 0.8,
    createdAt: Math.floor(context.services.clock.nowMs() / 1000),
  };
  const storing: Batch[] = [];
  let from = 0;
  try {
    for await (const chunks of document.batches) {
      const items = chunks.map((chunk) => grainOfChunk(chunk, file, fields));
      const outcomes = context.call('addBatch', { items }).then((output) => output.outcomes);
      outcomes.catch(() => undefined);
      storing.push({ from, items, outcomes });
      from += items.length;
      const first = storing.length >= DOCUMENT_BATCHES_OUT_MAX ? storing.shift() : undefined;
      if (first !== undefined) await tally.add(first);
    }
    for (const batch of storing) await tally.add(batch);
  } finally {
    document.close();
  }
  return tally.result();
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

  async add({ from, items, outcomes }: Batch): Promise<void> {
    const sources: (AddItem & { readonly hash: string })[] = [];
    for (const [at, outcome] of (await outcomes).entries()) {
      const item = items[at];
      assert(item !== undefined, 'a batch has an outcome an item');
      if ('error' in outcome) this.#refuse(from + at, outcome.error);
      else {
        this.#take(outcome);
        sources.push({ ...item, hash: outcome.hash });
      }
    }
    if (this.#extracts) await this.#extract(sources);
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

  async #extract(sources: readonly (AddItem & { readonly hash: string })[]): Promise<void> {
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

/** Chunks often share a warning, so it is told once. */
const WARNINGS_MAX = 100;
