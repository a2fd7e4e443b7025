// Writes the reply of a BatchAdd: the bytes that the generated code writes, without an object for each result.
import { BatchAddResponse, type BatchAddResult } from '../../gen/memory/v1/memory.ts';

/** The outcome of a batch; each list is in the order of `index`. */
export interface BatchOutcome {
  readonly added: readonly { readonly index: number; readonly blobHash: string }[];
  readonly duplicates: readonly { readonly index: number; readonly blobHash: string }[];
  readonly errors: readonly { readonly index: number; readonly code: string; readonly error: string }[];
  readonly totalAdded: number;
  readonly totalErrors: number;
  readonly totalDuplicates: number;
}

/** An address in hex. */
const HASH_CHARS = 64;
/** The result of a grain that was stored: tag and length, index, hash, duplicate. */
const STORED_BYTES_MAX = 2 + 6 + (2 + HASH_CHARS) + 2;
const RESULTS = 0x0a;
const INDEX = 0x08;
const HASH = 0x12;
const DUPLICATE = 0x18;

/** The message's bytes: results in the order of the request, then the totals. */
export function batchReply(output: BatchOutcome): Buffer {
  const { added, duplicates, errors } = output;
  const { totalAdded, totalErrors, totalDuplicates } = output;
  const refused = errors.map(({ index, code, error }) =>
    BatchAddResponse.encode(messageOf({ results: [{ index, errorCode: code, errorMessage: error }] })).finish(),
  );
  const totals = BatchAddResponse.encode(messageOf({ totalAdded, totalErrors, totalDuplicates })).finish();
  let room = (added.length + duplicates.length) * STORED_BYTES_MAX + totals.length;
  for (const { length } of refused) room += length;
  const into = Buffer.allocUnsafe(room);
  let at = 0;
  // The three lists are merged by the index of their next results.
  let [nextAdded, nextDuplicate, nextError] = [0, 0, 0];
  for (let left = added.length + duplicates.length + errors.length; left > 0; left--) {
    const addedIndex = added[nextAdded]?.index ?? Number.POSITIVE_INFINITY;
    const duplicateIndex = duplicates[nextDuplicate]?.index ?? Number.POSITIVE_INFINITY;
    const errorIndex = errors[nextError]?.index ?? Number.POSITIVE_INFINITY;
    if (errorIndex < addedIndex && errorIndex < duplicateIndex) {
      into.set(refused[nextError]!, at);
      at += refused[nextError++]!.length;
    } else if (duplicateIndex < addedIndex) {
      at = writeStored(into, at, duplicateIndex, duplicates[nextDuplicate++]!.blobHash, true);
    } else at = writeStored(into, at, addedIndex, added[nextAdded++]!.blobHash, false);
  }
  into.set(totals, at);
  return into.subarray(0, at + totals.length);
}

type Results = { readonly results?: readonly Partial<BatchAddResult>[] };

function messageOf(partial: Results & Partial<Omit<BatchAddResponse, 'results'>>): BatchAddResponse {
  return BatchAddResponse.fromPartial({ ...partial, results: [...(partial.results ?? [])] });
}

/** Writes a result of a stored grain at `at` and returns its end. Zero and false are left out, as protobuf demands. */
function writeStored(into: Buffer, at: number, index: number, hash: string, duplicate: boolean): number {
  const start = at + 2;
  let end = start;
  if (index !== 0) {
    into[end++] = INDEX;
    end = writeVarint(into, end, index);
  }
  into[end] = HASH;
  into[end + 1] = hash.length;
  end += 2 + into.write(hash, end + 2, 'latin1');
  if (duplicate) {
    into[end++] = DUPLICATE;
    into[end++] = 1;
  }
  into[at] = RESULTS;
  into[at + 1] = end - start;
  return end;
}

function writeVarint(into: Buffer, at: number, value: number): number {
  for (; value > 0x7f; value >>>= 7) into[at++] = (value & 0x7f) | 0x80;
  into[at++] = value;
  return at;
}
