import Type, { type Static } from 'typebox';
import { EngineError } from '../../../engine/errors.ts';
import { REMEMBER_TEXT_BYTES_MAX } from '../../../engine/limits.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import type { CallExtras, Context } from '../../context.ts';
import { RememberRequest, RememberResponse } from '../../gen/memory/v1/memory.ts';
import { FAILED, type Marker } from '../../jobs/extractions.ts';
import { defineOperation, rpc } from '../define.ts';
import { inward, nodeOf } from '../names.ts';
import { withRelated } from './auto-relate.ts';
import {
  afterAnswer,
  datedNow,
  extractFrom,
  type Pace,
  type Source,
  withEventDate,
  withinRequest,
} from './extraction.ts';
import { bodyOf, missing } from './fields.ts';

const Input = Type.Object({
  text: Type.String(),
  userId: Type.Optional(Type.String()),
  namespace: Type.Optional(Type.String()),
  tags: Type.Optional(Type.Array(Type.String())),
  extractMode: Type.Optional(Type.Enum(['async', 'sync'])),
  keepSource: Type.Optional(Type.Boolean()),
  sourceType: Type.Optional(Type.String()),
  createdAt: Type.Optional(Type.Integer()),
  confidence: Type.Optional(Type.Number()),
  sessionId: Type.Optional(Type.String()),
  extractEventDate: Type.Optional(Type.Boolean()),
  autoRelate: Type.Optional(Type.Boolean()),
  purpose: Type.Optional(Type.String()),
});
type Input = Static<typeof Input>;

const Output = Type.Object({
  sourceHash: Type.String(),
  mode: Type.String(),
  extractedHashes: Type.Array(Type.String()),
  extractedCount: Type.Integer(),
  warnings: Type.Array(Type.String()),
  sourceForgotten: Type.Boolean(),
  markerStatus: Type.String(),
});

interface StoredSource extends Source {
  readonly hash: string;
  /** It was there before. */
  readonly duplicate: boolean;
  readonly warnings: readonly string[];
}

/** Members of the input that are fields of the source event, by their names there. */
const FIELDS = [
  ['userId', 'user_id'],
  ['namespace', 'namespace'],
  ['tags', 'tags'],
  ['sourceType', 'source_type'],
  ['createdAt', 'created_at'],
  ['confidence', 'confidence'],
  ['sessionId', 'session_id'],
] as const;

const BODY = {
  type: 'object',
  description: 'text, or content in its place.',
  properties: {
    text: { type: 'string' },
    content: { type: 'string' },
    user_id: { type: 'string' },
    namespace: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    extract_mode: { enum: ['async', 'sync'] },
    keep_source: { type: 'boolean' },
    source_type: { type: 'string' },
    created_at: { type: 'integer' },
    confidence: { type: 'number', minimum: 0, maximum: 1 },
    session_id: { type: 'string' },
    extract_event_date: { type: 'boolean' },
    auto_relate: { type: 'boolean' },
    purpose: { type: 'string' },
  },
};

function readBody(json: unknown): unknown {
  const body = bodyOf(json);
  return inward(nodeOf(Input), { ...body, text: body['text'] ?? body['content'] });
}

export const remember = defineOperation({
  name: 'remember',
  summary: 'Store a text as an event, and what it says as beliefs.',
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
      write: (output) => ({
        source_hash: output.sourceHash,
        blob_hash: output.sourceHash,
        mode: output.mode,
        extracted_hashes: output.extractedHashes,
        extracted_count: output.extractedCount,
        warnings: output.warnings,
        source_forgotten: output.sourceForgotten,
        marker_status: output.markerStatus,
        status: 'remembered',
      }),
    },
  ],
  run: (input, context) => {
    checkText(input.text);
    return input.extractMode === 'sync' ? rememberNow(input, context) : rememberSoon(input, context);
  },
});

function checkText(text: string): void {
  if (text.trim() === '') throw missing('text');
  const bytes = Buffer.byteLength(text);
  if (bytes > REMEMBER_TEXT_BYTES_MAX)
    throw new EngineError('LIM-E003', `text has ${bytes} bytes, ${REMEMBER_TEXT_BYTES_MAX} are the most`);
}

/** Answers once the beliefs are stored. */
async function rememberNow(input: Input, context: Context): Promise<Static<typeof Output>> {
  const stored = await storeSource(input, context);
  return outputOf(stored, 'sync', await finish(stored, input, context, withinRequest(context, input.purpose)));
}

/**
 * Answers once the source is stored. Asked again while or after that is extracted from, it tells how that went; what
 * failed is told once, and tried again when it is asked for after that.
 */
async function rememberSoon(input: Input, context: Context): Promise<Static<typeof Output>> {
  const { extractions } = context.services;
  const { number } = context.memory;
  const place = extractions.reserve(number, Buffer.byteLength(input.text));
  try {
    const stored = await storeSource(input, context);
    const { hash } = stored;
    const known = extractions.markerOf(number, hash);
    if (known !== undefined) {
      if (known.status === 'failed') extractions.clear(number, hash);
      return outputOf(stored, 'async', known);
    }
    place.start(hash, () => finish(stored, input, context, afterAnswer(context, input.purpose)));
    return outputOf(stored, 'async', extractions.markerOf(number, hash) ?? FAILED);
  } finally {
    place.release();
  }
}

function outputOf(stored: StoredSource, mode: string, marker: Marker): Static<typeof Output> {
  return {
    sourceHash: stored.hash,
    mode,
    extractedHashes: [...marker.hashes],
    extractedCount: marker.hashes.length,
    warnings: [...stored.warnings, ...marker.warnings],
    sourceForgotten: marker.sourceForgotten,
    markerStatus: marker.status,
  };
}

async function storeSource(input: Input, context: Context): Promise<StoredSource> {
  const { extractEventDate, autoRelate, purpose } = input;
  const own: JsonObject = { content: input.text };
  for (const [member, field] of FIELDS) {
    const value = input[member];
    if (value !== undefined) own[field] = value;
  }
  const plain = { grainType: 'event', fields: datedNow(own, context) };
  const dated = extractEventDate === true ? await withEventDate(plain, context) : plain.fields;
  const { fields, warning } =
    autoRelate === true ? await withRelated({ grainType: 'event', fields: dated }, context) : { fields: dated };
  const { hash, duplicate, warnings } = await context.call(
    'add',
    { grainType: 'event', fields, sync: false, event: 'memory.remembered' },
    purpose === undefined ? {} : { purpose },
  );
  // What was stored before was said before: its relative dates are seen from then.
  const before = duplicate || context.idempotency !== undefined;
  const createdAt = before && input.createdAt === undefined ? await createdAtOf(hash, context) : undefined;
  const ignored = warning === undefined ? [] : [warning];
  return {
    grainType: 'event',
    fields: createdAt === undefined ? fields : { ...fields, created_at: createdAt },
    hash,
    duplicate,
    warnings: [...ignored, ...warnings],
  };
}

/** Seconds; undefined for a source that is gone by now, or cannot be read. */
async function createdAtOf(hash: string, context: Context): Promise<number | undefined> {
  try {
    return (await context.call('get', { hash })).createdAt;
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

/** Extracts, then forgets the source where that is wanted and everything was extracted. */
async function finish(stored: StoredSource, { keepSource }: Input, context: Context, pace: Pace): Promise<Marker> {
  const { hashes, warnings, failed } = await extractFrom([stored], context, pace);
  const marker: Marker = { status: failed ? 'failed' : 'done', hashes, sourceForgotten: false, warnings };
  if (failed || keepSource !== false) return marker;
  const kept = await forgetSource(stored, context, pace.extras());
  if (kept === undefined) return { ...marker, sourceForgotten: true };
  return { ...marker, warnings: [...warnings, `the source was kept: ${kept}`] };
}

/** Undefined once it is forgotten, else why it was not. */
async function forgetSource(stored: StoredSource, context: Context, extras: CallExtras): Promise<string | undefined> {
  if (stored.duplicate) return 'it was there before';
  try {
    const reason = context.reason ?? 'keep_source is false';
    await context.call('forget', { hashes: [stored.hash], check: false }, { ...extras, reason });
    return undefined;
  } catch (error) {
    if (error instanceof EngineError) return error.message;
    throw error;
  }
}
