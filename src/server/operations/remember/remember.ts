import { hash } from 'node:crypto';
import { defined } from '../../../engine/base/defined.ts';
import { EngineError, type ErrorCode } from '../../../engine/base/errors.ts';
import { REMEMBER_TEXT_BYTES_MAX } from '../../../engine/base/limits.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import type { CallExtras, Context } from '../../context.ts';
import { randomId } from '../../control/ids.ts';
import { RememberRequest, RememberResponse } from '../../gen/memory/v1/memory.ts';
import { FAILED, type Marker } from '../../jobs/extractions.ts';
import { defineOperation } from '../define.ts';
import { withRelated } from '../grains/auto-relate.ts';
import { bodyOf, missing } from '../grains/fields.ts';
import { rpc } from '../grpc-face.ts';
import { HASH, oneOf, withMembers } from '../json-schema.ts';
import { inward, nodeOf, outsideSchema } from '../names.ts';
import { described, type Static } from '../type.ts';
import { afterAnswer, datedNow, extractFrom, type Pace, withEventDate, withinRequest } from './extraction.ts';
import { BODY, Input, Output } from './schema.ts';
import type { Source } from './source.ts';

interface StoredSource extends Source {
  readonly hash: string;
  /** True when the memory held the source already. */
  readonly duplicate: boolean;
}

interface Stored {
  /** At least one. */
  readonly sources: readonly StoredSource[];
  readonly warnings: readonly string[];
  /** Set for messages. */
  readonly ofMessages?:
    | { readonly sessionId: string; readonly errors: NonNullable<Static<typeof Output>['errors']> }
    | undefined;
}

/** Input members that become fields of the source event, with their field names. */
const FIELDS = [
  ['userId', 'user_id'],
  ['namespace', 'namespace'],
  ['tags', 'tags'],
  ['sourceType', 'source_type'],
  ['createdAt', 'created_at'],
  ['confidence', 'confidence'],
  ['sessionId', 'session_id'],
] as const;

function readBody(json: unknown): unknown {
  const body = bodyOf(json);
  return inward(nodeOf(Input), { ...body, text: body['text'] ?? body['content'] });
}

export const remember = defineOperation({
  name: 'remember',
  summary: 'Store a text as an event, and what it says as beliefs.',
  description:
    'The text can be recalled at once; beliefs are extracted after the answer, or before it with extract_mode sync.',
  example: { text: 'Ada moved to Oslo in May.', user_id: 'ada', extract_mode: 'sync' },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  input: Input,
  output: Output,
  errors: ['VAL-E003', 'LIM-E003'],
  grpc: rpc({
    rpc: 'Remember',
    request: RememberRequest,
    response: RememberResponse,
  }),
  http: [
    {
      verb: 'POST',
      path: 'M/remember',
      bodySchema: BODY,
      read: ({ json }) => readBody(json),
      answer: withMembers(outsideSchema(Output), {
        blob_hash: described(HASH, 'The same as source_hash.'),
        mode: described(
          oneOf('async', 'sync'),
          'Whether the extraction runs after the answer (async) or ran before it (sync).',
        ),
        marker_status: described(oneOf('pending', 'done', 'failed'), 'State of the extraction.'),
        status: described(oneOf('remembered'), 'Always remembered.'),
      }),
      write: (output) => ({
        source_hash: output.sourceHash,
        blob_hash: output.sourceHash,
        source_hashes: output.sourceHashes,
        session_id: output.sessionId,
        errors: output.errors,
        mode: output.mode,
        extracted_hashes: output.extractedHashes,
        extracted_count: output.extractedCount,
        duplicates: output.duplicates,
        warnings: output.warnings,
        source_forgotten: output.sourceForgotten,
        marker_status: output.markerStatus,
        status: 'remembered',
      }),
    },
  ],
  run: (input, context) => {
    checkTexts(input);
    return input.extractMode === 'sync' ? rememberNow(input, context) : rememberSoon(input, context);
  },
});

/**
 * Requires either a text or messages, not empty and at most REMEMBER_TEXT_BYTES_MAX bytes. Throws VAL-E001, VAL-E003
 * or LIM-E003.
 */
function checkTexts(input: Input): void {
  const { text, messages } = input;
  if (text !== undefined && messages !== undefined)
    throw new EngineError('VAL-E001', 'send text or messages, not both', {
      details: [{ field: 'messages', issue: 'beside text' }],
    });
  if (messages === undefined && (text === undefined || text.trim() === '')) throw missing('text');
  // Empty messages are refused one by one, unless there is no other: a transcript has turns that only call a tool.
  if (messages?.every(isEmpty) === true) throw missing('messages[0].content');
  const bytes = bytesOf(input);
  if (bytes > REMEMBER_TEXT_BYTES_MAX)
    throw new EngineError(
      'LIM-E003',
      `${text === undefined ? 'the messages have' : 'text has'} ${bytes} bytes; the limit is ${REMEMBER_TEXT_BYTES_MAX}`,
    );
}

function isEmpty({ content }: { readonly content: string }): boolean {
  return content.trim() === '';
}

function bytesOf({ text = '', messages = [] }: Pick<Input, 'text' | 'messages'>): number {
  return messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), Buffer.byteLength(text));
}

/** Stores the sources, extracts, then answers. */
async function rememberNow(input: Input, context: Context): Promise<Static<typeof Output>> {
  const stored = await storeSources(input, context);
  return outputOf(stored, 'sync', await finish(stored.sources, input, context, withinRequest(context, input.purpose)));
}

/**
 * Stores the sources and answers; extraction runs afterwards. A repeated request reports the state of that extraction. It
 * reports a failure once; the request after that starts the extraction again.
 */
async function rememberSoon(input: Input, context: Context): Promise<Static<typeof Output>> {
  const { extractions } = context.services;
  const { number } = context.memory;
  const place = extractions.reserve(number, bytesOf(input));
  try {
    const stored = await storeSources(input, context);
    const key = keyOf(stored.sources);
    const known = extractions.markerOf(number, key);
    if (known !== undefined) {
      if (known.status === 'failed') extractions.clear(number, key);
      return outputOf(stored, 'async', known);
    }
    place.start(key, () => finish(stored.sources, input, context, afterAnswer(context, input.purpose)));
    return outputOf(stored, 'async', extractions.markerOf(number, key) ?? FAILED);
  } finally {
    place.release();
  }
}

/** Key of an extraction: its sources. The same messages with further ones appended are another extraction. */
function keyOf(sources: readonly StoredSource[]): string {
  const hashes = sources.map((source) => source.hash);
  return hashes.length === 1 ? (hashes[0] ?? '') : hash('sha256', hashes.join('\n'), 'hex');
}

function outputOf({ sources, warnings, ofMessages }: Stored, mode: string, marker: Marker): Static<typeof Output> {
  return {
    sourceHash: sources[0]?.hash ?? '',
    sourceHashes: ofMessages && sources.map((source) => source.hash),
    sessionId: ofMessages?.sessionId,
    errors: ofMessages?.errors,
    mode,
    extractedHashes: [...marker.hashes],
    extractedCount: marker.hashes.length,
    duplicates: [...marker.duplicates],
    warnings: [...warnings, ...marker.warnings],
    sourceForgotten: marker.sourceForgotten,
    markerStatus: marker.status,
  };
}

function storeSources(input: Input, context: Context): Promise<Stored> {
  const { text, messages } = input;
  return messages === undefined ? storeText(input, text ?? '', context) : storeMessages(input, messages, context);
}

async function storeText(input: Input, text: string, context: Context): Promise<Stored> {
  const own = datedNow(fieldsOf(input, text), context);
  const { fields, related, warnings: ignored } = await withOptions(own, input, context);
  const {
    hash: address,
    duplicate,
    warnings,
  } = await context.call(
    'add',
    { grainType: 'event', fields, sync: false, event: 'memory.remembered', related },
    purposeOf(input),
  );
  const allWarnings = [...ignored, ...warnings];
  const source = { grainType: 'event', fields, hash: address, duplicate };
  // A source that was stored earlier keeps its time, from which its relative dates count.
  const before = duplicate || context.idempotency !== undefined;
  const [seen = source] = before && input.createdAt === undefined ? await asStored([source], context) : [source];
  return { sources: [seen], warnings: allWarnings };
}

/**
 * Stores each message as an event of the session. A refused message does not stop the others; if all are refused,
 * throws the first refusal.
 */
async function storeMessages(
  input: Input,
  messages: NonNullable<Input['messages']>,
  context: Context,
): Promise<Stored> {
  const sessionId = input.sessionId ?? sessionOf(context);
  const times = timesOf(messages, input.createdAt ?? Math.floor(context.services.clock.nowMs() / 1000));
  const warnings = new Set<string>();
  const items: { grainType: 'event'; fields: JsonObject; event: 'memory.remembered'; related: number | undefined }[] =
    [];
  const indexes: number[] = [];
  const errors: { index: number; code: ErrorCode; error: string }[] = [];
  for (const [index, message] of messages.entries()) {
    const { role, content } = message;
    if (isEmpty(message)) {
      const { code, message: error } = missing(`messages[${index}].content`);
      errors.push({ index, code, error });
      continue;
    }
    indexes.push(index);
    const own = { ...fieldsOf(input, content), role, session_id: sessionId, created_at: times[index] ?? 0 };
    const { fields, related, warnings: ignored } = await withOptions(own, input, context);
    for (const warning of ignored) warnings.add(warning);
    items.push({ grainType: 'event', fields, event: 'memory.remembered', related });
  }
  const { outcomes } = await context.call('addBatch', { items }, purposeOf(input));
  const sources: StoredSource[] = [];
  for (const [at, outcome] of outcomes.entries()) {
    if ('error' in outcome)
      errors.push({ index: indexes[at]!, code: outcome.error.code, error: outcome.error.message });
    else {
      for (const warning of outcome.warnings) warnings.add(warning);
      const fields = items[at]?.fields ?? {};
      sources.push({ grainType: 'event', fields, hash: outcome.hash, duplicate: outcome.duplicate });
    }
  }
  errors.sort((one, other) => one.index - other.index);
  const refused = errors.find(({ index }) => indexes.includes(index));
  if (sources.length === 0 && refused !== undefined) throw new EngineError(refused.code, refused.error);
  const seen = context.idempotency === undefined ? sources : await asStored(sources, context);
  return { sources: seen, warnings: [...warnings], ofMessages: { sessionId, errors } };
}

/** A new session for messages without one; a retry with the same Idempotency-Key gets the same session. */
function sessionOf({ idempotency, requestId }: Context): string {
  return `ses_${hash('sha256', idempotency?.key ?? requestId + randomId(''), 'hex').slice(0, 24)}`;
}

/**
 * Times of the messages in Unix seconds. A message without a time gets one second after its predecessor's, or one second
 * before its successor's; if none has a time, the last gets `lastSeconds`. This keeps the order and makes repeated
 * messages distinct.
 */
function timesOf(messages: NonNullable<Input['messages']>, lastSeconds: number): number[] {
  const times: (number | undefined)[] = [];
  for (const { time } of messages) {
    const before = times.at(-1);
    times.push(time ?? (before === undefined ? undefined : before + 1));
  }
  let after = lastSeconds + 1;
  for (let at = times.length - 1; at >= 0; at -= 1) {
    after = times[at] ?? after - 1;
    times[at] = after;
  }
  return times as number[]; // none is left undefined
}

function purposeOf({ purpose }: Input): CallExtras {
  return defined({ purpose });
}

function fieldsOf(input: Input, content: string): JsonObject {
  const fields: JsonObject = { content };
  for (const [member, field] of FIELDS) {
    const value = input[member];
    if (value !== undefined) fields[field] = value;
  }
  return fields;
}

/** Applies the request's options to the fields. */
async function withOptions(
  fields: JsonObject,
  { extractEventDate, autoRelate }: Input,
  context: Context,
): Promise<{
  readonly fields: JsonObject;
  readonly related?: number | undefined;
  readonly warnings: readonly string[];
}> {
  const plain = { grainType: 'event', fields };
  const dated = extractEventDate === true ? await withEventDate(plain, context) : fields;
  if (autoRelate !== true) return { fields: dated, warnings: [] };
  const { warning, ...related } = await withRelated({ grainType: 'event', fields: dated }, context);
  return { ...related, warnings: warning === undefined ? [] : [warning] };
}

/** The sources with their stored times. Sources that are gone or cannot be read stay unchanged. */
async function asStored(sources: readonly StoredSource[], context: Context): Promise<StoredSource[]> {
  try {
    const { grains } = await context.call('fetch', { hashes: sources.map((source) => source.hash) });
    return sources.map((source, index) => {
      const createdAt = grains[index]?.createdAt;
      return createdAt === undefined ? source : { ...source, fields: { ...source.fields, created_at: createdAt } };
    });
  } catch (error) {
    if (error instanceof EngineError) return [...sources];
    throw error;
  }
}

/** Extracts, then forgets the sources if the request asks for that and the extraction did not fail. */
async function finish(
  sources: readonly StoredSource[],
  { keepSource }: Input,
  context: Context,
  pace: Pace,
): Promise<Marker> {
  const { hashes, duplicates, warnings, failed } = await extractFrom(sources, context, pace);
  const marker: Marker = {
    status: failed ? 'failed' : 'done',
    hashes,
    duplicates,
    sourceForgotten: false,
    warnings,
  };
  if (failed || keepSource !== false) return marker;
  const kept = await forgetSources(sources, context, pace.extras('forget'));
  if (kept === undefined) return { ...marker, sourceForgotten: true };
  return { ...marker, warnings: [...warnings, `the source was kept: ${kept}`] };
}

/** Forgets the sources; returns undefined, or the reason why one was kept. */
async function forgetSources(
  sources: readonly StoredSource[],
  context: Context,
  extras: CallExtras,
): Promise<string | undefined> {
  const own = sources.filter(({ duplicate }) => !duplicate).map((source) => source.hash);
  try {
    const reason = context.reason ?? 'keep_source is false';
    if (own.length > 0) await context.call('forget', { hashes: own, check: false }, { ...extras, reason });
    return own.length === sources.length ? undefined : 'it was stored before this request';
  } catch (error) {
    if (error instanceof EngineError) return error.message;
    throw error;
  }
}
