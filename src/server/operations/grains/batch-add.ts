import { assert } from '../../../engine/base/assert.ts';
import { defined } from '../../../engine/base/defined.ts';
import { EngineError, type ErrorCode, type WireError } from '../../../engine/base/errors.ts';
import { BATCH_GRAINS_MAX } from '../../../engine/base/limits.ts';
import { onDemand } from '../../../engine/base/on-demand.ts';
import { checkJsonTextBounds } from '../../../engine/grain/api/json-bounds.ts';
import type { AddItem, JsonObject } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { AddRequest, BatchAddRequest, BatchAddResponse } from '../../gen/memory/v1/memory.ts';
import { defineCall } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { decodeMessage } from '../message-reader.ts';
import { inward, isMembers, type Members, nodeOf, outsideSchema, parsedJson } from '../names.ts';
import { batchAsks, jsonAsks } from '../remember/asks-extraction.ts';
import { datedNow, extractFrom, moreDone, wantsMore, withEventDate, withinRequest } from '../remember/extraction.ts';
import { described, type Static, Type } from '../type.ts';
import { eachOf, type FindUnknown, type UnknownMember, within } from '../unknown-members.ts';
import { withRelated } from './auto-relate.ts';
import { batchReply } from './batch-reply.ts';
import { bodyOf, fieldsOf, findInFields, missing, mistyped, textMember, unknownOutsideFields } from './fields.ts';
import { checkedGrainType } from './grain-type.ts';
import { AddOptionsInput, optionWarnings } from './options.ts';
import type * as PlainReader from './plain-batch.ts';
import type * as PlainBodyReader from './plain-body.ts';

/** An item of the request: a grain to add, or the error that refuses it. */
type BatchItem = AddItem | { readonly grainType: string; readonly refused: WireError };

const Input = Type.Object({
  items: Type.Array(Type.Unsafe<BatchItem>({ type: 'object' }), { description: 'The grains to add, at most 1,000.' }),
  options: Type.Optional(described(AddOptionsInput, 'Further steps besides storing the grains.')),
  purpose: Type.Optional(
    Type.String({ description: 'Purpose of the processing, which consent is checked for; the default is storage.' }),
  ),
});

const Added = Type.Object({
  index: Type.Integer({ description: 'Position of the grain in the request, from 0.' }),
  blobHash: Type.String({ description: 'Hash of the stored grain.' }),
  grainType: Type.String({ description: 'Type of the grain.' }),
});
const Failed = Type.Object({
  index: Type.Integer({ description: 'Position of the grain in the request, from 0.' }),
  // The length bound keeps OpenAPI from showing the grain types as an enum, which a plain string schema would get.
  grainType: Type.String({ minLength: 0, description: 'Type of the grain as it was sent, known or not.' }),
  code: Type.Unsafe<ErrorCode>({ type: 'string', description: 'Error code.' }),
  error: Type.String({ description: 'Error message.' }),
});
const Output = Type.Object({
  added: Type.Array(Added, { description: 'The grains that were stored, in order.' }),
  errors: Type.Array(Failed, { description: 'The grains that were refused; the others are stored.' }),
  duplicates: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'Position of the grain in the request, from 0.' }),
      blobHash: Type.String({ description: 'Hash of the grain that the memory held already.' }),
    }),
    { description: 'The grains that the memory held already.' },
  ),
  totalAdded: Type.Integer({ description: 'Number of grains that were stored.' }),
  totalErrors: Type.Integer({ description: 'Number of grains that were refused.' }),
  totalDuplicates: Type.Integer({ description: 'Number of grains that the memory held already.' }),
  extractedCount: Type.Optional(
    Type.Integer({
      description: 'Number of beliefs that were extracted; only with extract_memories.',
    }),
  ),
  warnings: Type.Optional(
    Type.Array(Type.String(), { description: 'Parts of the request that were ignored or not fulfilled.' }),
  ),
});

const ENVELOPE = new Set(['grain_type', 'options', 'purpose']);

/**
 * Reads the fields from `source` and turns an EngineError into the item's error, so that one item cannot fail the batch.
 */
function itemOf<T>(grainType: unknown, read: (source: T) => JsonObject, source: T): BatchItem {
  const shown = typeof grainType === 'string' ? grainType : '';
  try {
    if (grainType === undefined || grainType === null || grainType === '') throw missing('grain_type');
    if (typeof grainType !== 'string') throw mistyped('grain_type', 'string');
    return { grainType: checkedGrainType(grainType), fields: read(source) };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { grainType: shown, refused: error.toWire() };
  }
}

function readBody(json: unknown): unknown {
  const body = bodyOf(json);
  const grains = body['grains'];
  if (grains === undefined || grains === null) throw missing('grains');
  if (!Array.isArray(grains)) throw mistyped('grains', 'array');
  checkCount(grains.length);
  const shared = { namespace: textMember(body, 'namespace'), tags: sharedTags(body['tags']) };
  const { options, purpose } = body;
  return defined({
    items: grains.map((grain: unknown) => readGrain(grain, shared)),
    options: options === undefined || options === null ? undefined : inward(nodeOf(AddOptionsInput), options),
    purpose: purpose ?? undefined,
  });
}

interface Shared {
  readonly namespace: string | undefined;
  readonly tags: readonly string[];
}

function sharedTags(tags: unknown): readonly string[] {
  if (tags === undefined || tags === null) return [];
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string')) throw mistyped('tags', 'array of strings');
  return tags;
}

function readGrain(grain: unknown, shared: Shared): BatchItem {
  const body: Members = isMembers(grain) ? grain : {};
  const read = (): JsonObject => {
    if (body['fields'] === undefined || body['fields'] === null) throw missing('fields');
    const fields = fieldsOf(body, ENVELOPE);
    if (shared.namespace !== undefined) fields['namespace'] ??= shared.namespace;
    if (shared.tags.length > 0) fields['tags'] = mergedTags(fields['tags'], shared.tags);
    return fields;
  };
  return itemOf(body['grain_type'], read, undefined);
}

/** The item's tags, then the shared tags that it lacks. The shard refuses tags that are not a list. */
function mergedTags(own: JsonObject[string] | undefined, shared: readonly string[]): JsonObject[string] {
  if (own === undefined || own === null) return [...shared];
  return Array.isArray(own) ? [...own, ...shared.filter((tag) => !own.includes(tag))] : own;
}

function readItems(message: BatchAddRequest): unknown {
  checkCount(message.items.length);
  checkJsonTextBounds(
    message.items.map(({ fieldsJson }) => fieldsJson),
    'the batch',
  );
  const items = message.items.map(itemOfMessage);
  const options: AddOptionsInput = {};
  for (let i = 0; i < message.items.length; i++) {
    const given = message.items[i]!.options;
    if (given !== undefined) for (const name of OPTION_NAMES) if (given[name] === true) options[name] = true;
  }
  return { items, options };
}

const plain = onDemand<typeof PlainReader>(import.meta.url, './plain-batch');

/** A request of plain grains, with each other item as `readItems` reads it. Undefined for any other request. */
function readPlainItems(request: Uint8Array): unknown {
  const items = plain().readPlainBatch(request, (message) =>
    itemOfMessage(decodeMessage(AddRequest, message, NONE_UNKNOWN)),
  );
  return items && { items, options: {} };
}

const plainBody = onDemand<typeof PlainBodyReader>(import.meta.url, './plain-body');

/** A body of plain grains alone. Undefined for any other body. */
function readPlainJson(body: Uint8Array): unknown {
  const items = plainBody().readPlainBody(body);
  return items && { items };
}

/** The items have no member that the message lacks. */
const NONE_UNKNOWN: UnknownMember[] = [];

const OPTION_NAMES = ['extractEventDate', 'autoRelate', 'extractMemories', 'sync'] as const;

function itemOfMessage(item: AddRequest): BatchItem {
  return itemOf(item.grainType, fieldsOfText, item);
}

function fieldsOfText(item: AddRequest): JsonObject {
  const fields = parsedJson(item.fieldsJson === '' ? '{}' : item.fieldsJson, 'fields_json');
  if (!isMembers(fields)) throw mistyped('fields_json', 'object');
  return fields as JsonObject; // just parsed
}

function checkCount(count: number): void {
  if (count > BATCH_GRAINS_MAX)
    throw new EngineError('LIM-E003', `the batch has ${count} grains; the limit is ${BATCH_GRAINS_MAX}`);
}

const BODY: Members = {
  type: 'object',
  required: ['grains'],
  properties: {
    grains: {
      type: 'array',
      maxItems: BATCH_GRAINS_MAX,
      items: {
        type: 'object',
        required: ['grain_type', 'fields'],
        additionalProperties: true,
        properties: {
          grain_type: { type: 'string', description: 'Type of the grain.' },
          fields: {
            type: 'object',
            description: 'Fields of the grain: those of its type, common fields, and any others, which are kept.',
          },
        },
      },
      description: 'The grains to add, at most 1,000; common fields may be outside fields, where they take precedence.',
    },
    namespace: { type: 'string', description: 'Namespace of the grains that name none; the default is default.' },
    tags: {
      type: 'array',
      items: { type: 'string' },
      description: 'Tags that every grain gets in addition to its own.',
    },
    options: outsideSchema(Input.properties.options),
    purpose: {
      type: 'string',
      description: 'Purpose of the processing, which consent is checked for; the default is storage.',
      default: 'storage',
    },
  },
};

const unknownInGrain = unknownOutsideFields(ENVELOPE);

const unknownInGrains: FindUnknown = (body, into) => {
  if (isMembers(body)) within('grains', into, () => eachOf(body['grains'], unknownInGrain, into));
};

const findInItems: FindUnknown = (input, into) => {
  if (isMembers(input)) within('grains', into, () => eachOf(input['items'], findInFields, into));
};

export const batchAdd = defineCall({
  name: 'batch_add',
  summary: 'Add up to 1,000 grains of any type; each one succeeds or fails alone.',
  description: 'Refused grains are listed in errors, and grains that the memory held already in duplicates.',
  example: {
    grains: [{ grain_type: 'belief', fields: { subject: 'Ada', relation: 'likes', object: 'tea' } }],
    namespace: 'home',
  },
  needs: 'write',
  reach: 'binding',
  // The other steps call models, whose limits the server of the deployment counts.
  onAnyNode: ({ options }) => !wantsMore(options),
  mutates: true,
  onUnknown: 'warn',
  input: Input,
  output: Output,
  errors: ['LIM-E003', 'VAL-E003'],
  findUnknown: findInItems,
  http: [
    {
      verb: 'POST',
      path: 'M/batch-add',
      bodySchema: BODY,
      findUnknown: unknownInGrains,
      read: ({ json }) => readBody(json),
      readInShard: readPlainJson,
      onMainThread: jsonAsks,
    },
  ],
  grpc: rpc({
    rpc: 'BatchAdd',
    request: BatchAddRequest,
    response: BatchAddResponse,
    read: readItems,
    readInShard: readPlainItems,
    onMainThread: batchAsks,
    pack: (output: Static<typeof Output>) => batchReply(output),
  }),
  call: {
    method: 'addBatch',
    ask: ({ items, options, purpose }) => ({
      input: { items: items.filter((item): item is AddItem => !('refused' in item)), sync: options?.sync ?? false },
      purpose,
    }),
    answer: ({ outcomes }, { items, options }) => {
      const output = emptyOutput();
      const warnings = optionWarnings(options);
      let asked = 0;
      for (let index = 0; index < items.length; index++) {
        const item = items[index]!;
        if ('refused' in item) {
          output.errors.push(failure(index, item.grainType, item.refused));
          continue;
        }
        const outcome = outcomes[asked++];
        assert(outcome !== undefined, 'a batch has an outcome an item');
        if ('error' in outcome) output.errors.push(failure(index, outcome.grainType, outcome.error));
        else if (outcome.duplicate) output.duplicates.push({ index, blobHash: outcome.hash });
        else {
          for (const warning of outcome.warnings) warnings.push(`grain ${index}: ${warning}`);
          output.added.push({ index, blobHash: outcome.hash, grainType: outcome.grainType });
        }
      }
      assert(asked === outcomes.length, 'a batch has an outcome an item');
      return {
        ...output,
        totalAdded: output.added.length,
        totalErrors: output.errors.length,
        totalDuplicates: output.duplicates.length,
        warnings: warnings.length === 0 ? undefined : warnings,
      };
    },
    around: async (input, context, perform) => {
      const { options, purpose } = input;
      if (!wantsMore(options)) return perform(input);
      const items: BatchItem[] = [];
      const unrelated = new Set<string>();
      for (const item of input.items) items.push(await prepared(item, options, context, unrelated));
      const stored = await perform({ ...input, items, options: moreDone(options) });
      const output =
        unrelated.size === 0 ? stored : { ...stored, warnings: [...(stored.warnings ?? []), ...unrelated] };
      if (options?.extractMemories !== true) return output;
      const sources = [...output.added, ...output.duplicates]
        .sort((one, other) => one.index - other.index)
        .flatMap(({ index, blobHash }) => {
          const item = items[index];
          return item === undefined || 'refused' in item ? [] : [{ ...item, hash: blobHash }];
        });
      const { hashes, warnings } = await extractFrom(sources, context, withinRequest(context, purpose));
      const allWarnings = [...(output.warnings ?? []), ...warnings];
      return {
        ...output,
        extractedCount: hashes.length,
        warnings: allWarnings.length === 0 ? output.warnings : allWarnings,
      };
    },
  },
});

/**
 * The item with the times and relations that the options ask for; a refused item stays unchanged. Adds the reasons for
 * missing relations to `unrelated`.
 */
async function prepared(
  item: BatchItem,
  options: AddOptionsInput | undefined,
  context: Context,
  unrelated: Set<string>,
): Promise<BatchItem> {
  if ('refused' in item) return item;
  const plain = { ...item, fields: datedNow(item.fields, context) };
  const dated = options?.extractEventDate === true ? { ...plain, fields: await withEventDate(plain, context) } : plain;
  if (options?.autoRelate !== true) return dated;
  const { warning, ...related } = await withRelated(dated, context);
  if (warning !== undefined) unrelated.add(warning);
  return { ...dated, ...related };
}

function emptyOutput(): Pick<Static<typeof Output>, 'added' | 'errors' | 'duplicates'> {
  return { added: [], errors: [], duplicates: [] };
}

function failure(index: number, grainType: string, error: WireError): Static<typeof Failed> {
  return { index, grainType, code: error.code, error: error.message };
}
