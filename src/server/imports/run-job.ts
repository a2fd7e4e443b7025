// One run of an import job: reads its document, then stores its chunks batch by batch, and records each step. A run that
// a crash ended is repeated from the first chunk that is not recorded. Calls have the keys of their chunks, so a batch
// that was stored before the crash is answered again instead of stored twice.
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { assert } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  IMPORT_JOB_HASHES_MAX,
  IMPORT_JOB_PROBLEMS_MAX,
  IMPORT_RETRY_MS,
  IMPORT_TRIES_MAX,
} from '../../engine/base/limits.ts';
import type { AddOutcome } from '../../shards/protocol.ts';
import type { CallExtras, Context, Services } from '../context.ts';
import type { ImportJobRecord } from '../control/records.ts';
import { type ChunkBatch, outcomesOf } from '../documents/chunk-batch.ts';
import { keptFileName } from '../documents/chunk-grain.ts';
import type { DocumentChunks } from '../documents/documents.ts';
import { CHUNKS } from '../operations/codecs.ts';
import { chunkFieldsOf, windowOf } from '../operations/documents/schema.ts';
import { sourcesOf } from '../operations/documents/store-chunks.ts';
import { afterAnswer, extractFrom, type Pace } from '../operations/remember/extraction.ts';
import { isOver, type JobRun, unlessAborted } from './job.ts';
import { jobContext } from './job-context.ts';

export interface RunParts extends JobRun {
  readonly services: Services;
  readonly documents: Pick<Services['documents'], 'chunks'>;
}

/** Rejects with the reason when the job fails; resolves early when it was aborted. */
export async function runJob(parts: RunParts): Promise<void> {
  const { signal, documents, record } = parts;
  const job = parts.now();
  const context = jobContext(parts.services, job, parts.guard);
  await record({ phase: 'parsing' });
  const bytes = await parts.read();
  if (signal.aborted) return;
  const { options, createdAtMs, processedChunks: from } = job;
  // The same fields on every run, so that a repeated chunk is the same grain.
  const fields = chunkFieldsOf(options, createdAtMs);
  const wants = { window: windowOf(options), fileName: keptFileName(job.fileName), fields, from };
  const reading = documents.chunks(bytes, job.fileName, wants);
  const document = await unlessAborted(reading, signal);
  if (document === undefined) {
    void reading.then((late) => late.close()).catch(() => undefined);
    return;
  }
  try {
    await record({ phase: 'chunking', mimeType: document.mimeType, totalChunks: document.count });
    await storeAll(parts, context, document);
  } finally {
    document.close();
  }
}

async function storeAll(parts: RunParts, context: Context, document: DocumentChunks): Promise<void> {
  const { signal, record, now } = parts;
  await record({ phase: 'storing' });
  for await (const batch of document.batches) {
    if (signal.aborted) return;
    const outcomes = await stored(parts, context, batch);
    const step = tallied(now(), batch, outcomes);
    const refusal = refusalOf(outcomes);
    if (refusal !== undefined) {
      await record(step);
      throw refusal;
    }
    if (!extracts(now())) await record(step);
    else {
      // The batch is recorded after its beliefs: a crash in between repeats both.
      await record({ phase: 'extracting' });
      // The record of a cancelled job counts what it has stored.
      const unfinished = async (): Promise<void> => {
        if (isOver(now())) await record(step);
      };
      const found = await unlessAborted(extracted(context, now(), batch, outcomes), signal).catch(
        async (error: unknown) => {
          await unfinished();
          throw error;
        },
      );
      if (found === undefined) return await unfinished();
      const warnings = [...new Set([...(step.warnings ?? []), ...found.warnings])].slice(0, IMPORT_JOB_PROBLEMS_MAX);
      await record({ ...step, warnings, extracted: now().extracted + found.count, phase: 'storing' });
    }
  }
}

function extracts({ options }: ImportJobRecord): boolean {
  return options.extract === true;
}

/** Stores a batch. A shard that does not answer is asked again. */
async function stored(
  { services, signal, now }: RunParts,
  context: Context,
  { from, count, bytes }: ChunkBatch,
): Promise<readonly AddOutcome[]> {
  const idempotency = onceFor(now(), { from, count }, 'chunks');
  for (let tries = 1; ; tries++) {
    try {
      return outcomesOf(await context.callRaw(CHUNKS, bytes, { idempotency }));
    } catch (error) {
      const isTransient = error instanceof EngineError && error.retryable;
      if (!isTransient || tries >= IMPORT_TRIES_MAX || signal.aborted || services.isEnding()) throw error;
      await delay(IMPORT_RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}

/** The key of a call about a batch: a crash before the batch is recorded repeats the call. */
function onceFor(
  { id }: ImportJobRecord,
  { from, count }: Pick<ChunkBatch, 'from' | 'count'>,
  what: string,
): NonNullable<CallExtras['idempotency']> {
  const place = `${id}:${from}:${count}`;
  return { key: hash('sha256', `import ${place} ${what}`, 'hex'), bodyHash: hash('sha256', place, 'hex') };
}

function tallied(
  job: ImportJobRecord,
  { from, count }: ChunkBatch,
  outcomes: readonly AddOutcome[],
): Partial<ImportJobRecord> {
  assert(outcomes.length === count, 'a batch has an outcome a chunk');
  let { created, duplicates, refused } = job;
  const hashes = [...job.hashes];
  const errors = [...job.errors];
  const warnings = new Set(job.warnings);
  for (const [at, outcome] of outcomes.entries()) {
    if ('error' in outcome) {
      refused += 1;
      const { code, message } = outcome.error;
      if (errors.length < IMPORT_JOB_PROBLEMS_MAX) errors.push({ index: from + at, code, error: message });
      continue;
    }
    if (outcome.duplicate) duplicates += 1;
    else created += 1;
    if (hashes.length < IMPORT_JOB_HASHES_MAX) hashes.push(outcome.hash);
    for (const warning of outcome.warnings) if (warnings.size < IMPORT_JOB_PROBLEMS_MAX) warnings.add(warning);
  }
  return { created, duplicates, refused, hashes, errors, warnings: [...warnings], processedChunks: from + count };
}

/** Codes that say the same of every chunk: they are about the caller, the person, the namespace or the memory. */
const OF_ALL_CHUNKS = /^(?:AUT|AGT|SCP|MEM)-|^POL-E00[2678]$/;

/** The error of a job none of whose chunks can be stored any more. */
function refusalOf(outcomes: readonly AddOutcome[]): EngineError | undefined {
  const refusals = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []));
  const [first] = refusals;
  if (first === undefined || refusals.length < outcomes.length) return undefined;
  return refusals.every(({ code }) => OF_ALL_CHUNKS.test(code)) ? EngineError.fromWire(first) : undefined;
}

/** After a crash, calls that were made before it are answered again, so their beliefs still count as new. */
async function extracted(
  context: Context,
  job: ImportJobRecord,
  batch: ChunkBatch,
  outcomes: readonly AddOutcome[],
): Promise<{ readonly count: number; readonly warnings: readonly string[] }> {
  const sources = sourcesOf(batch, outcomes);
  const pace = afterAnswer(context, undefined);
  let calls = 0;
  const extras: Pace['extras'] = (method) => ({
    ...pace.extras(method),
    idempotency: onceFor(job, batch, `${method} ${calls++}`),
  });
  const { hashes, duplicates, warnings } = await extractFrom(sources, context, { ...pace, extras });
  return { count: hashes.length - duplicates.length, warnings };
}
