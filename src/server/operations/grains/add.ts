import { onDemand } from '../../../engine/base/on-demand.ts';
import { GRAIN_TYPE_NAMES } from '../../../engine/grain/grain.ts';
import type { PlainItem } from '../../../engine/grain/plain/plain-item.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import { AddRequest, AddResponse } from '../../gen/memory/v1/memory.ts';
import { defineCall } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { COUNT, HASH, objectOf, oneOf, TEXTS } from '../json-schema.ts';
import { inward, type Members, nodeOf, outsideSchema } from '../names.ts';
import { addAsks, jsonAsks } from '../remember/asks-extraction.ts';
import { datedNow, extractFrom, moreDone, wantsMore, withEventDate, withinRequest } from '../remember/extraction.ts';
import { described, Type } from '../type.ts';
import { type Related, withRelated } from './auto-relate.ts';
import {
  bodyOf,
  Fields,
  fieldsOf,
  findInFields,
  missing,
  mistyped,
  textMember,
  unknownOutsideFields,
} from './fields.ts';
import { checkedGrainType } from './grain-type.ts';
import { AddOptionsInput, optionWarnings } from './options.ts';
import type * as PlainReader from './plain-add.ts';

const Input = Type.Object({
  grainType: Type.String({ description: 'Type of the grain.' }),
  fields: described(Fields, 'Fields of the grain: those of its type, common fields, and any others, which are kept.'),
  options: Type.Optional(described(AddOptionsInput, 'Further steps besides storing the grain.')),
  purpose: Type.Optional(
    Type.String({ description: 'Purpose of the processing, which consent is checked for; the default is storage.' }),
  ),
});

const Output = Type.Object({
  hash: Type.String({ description: 'Hash of the stored grain, or of the grain that it duplicates.' }),
  duplicate: Type.Boolean({ description: 'Whether the memory held the grain already.' }),
  warnings: Type.Array(Type.String(), { description: 'Parts of the request that were ignored or not fulfilled.' }),
  extractedCount: Type.Optional(
    Type.Integer({
      description: 'Number of beliefs that were extracted; only with extract_memories.',
    }),
  ),
});

const ENVELOPE = new Set(['grain_type', 'options', 'purpose']);

/** Required fields of a belief in /add; the shard checks the others. */
const BELIEF_FIELDS = ['subject', 'relation', 'object'] as const;

/** Reads a flat or nested belief. A grain of another type must be nested, like an item of batch-add. */
function readGrain(json: unknown): unknown {
  const body = bodyOf(json);
  const grainType = checkedGrainType(textMember(body, 'grain_type') ?? 'belief');
  if (grainType !== 'belief' && (body['fields'] === undefined || body['fields'] === null)) throw missing('fields');
  const fields = fieldsOf(body, ENVELOPE);
  if (grainType === 'belief') checkBelief(fields);
  const { options, purpose } = body;
  const rest: Members = {};
  if (options !== undefined && options !== null) rest['options'] = inward(nodeOf(AddOptionsInput), options);
  if (purpose !== undefined && purpose !== null) rest['purpose'] = purpose;
  return { grainType, fields, ...rest };
}

function checkBelief(fields: JsonObject): void {
  for (const name of BELIEF_FIELDS) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (value === undefined || value === null) throw missing(name);
    if (typeof value !== 'string') throw mistyped(name, 'string');
  }
}

const plain = onDemand<typeof PlainReader>(import.meta.url, './plain-add');

/** The input of a plain grain, which stands for its fields: they are read only where something asks for them. */
function plainInput(item: PlainItem | undefined): unknown {
  return item && { grainType: item.grainType, fields: item };
}

/** JSON holds no function. The class itself is loaded only where plain grains are read. */
function isPlain(fields: JsonObject | PlainItem): fields is PlainItem {
  return typeof fields.grain === 'function';
}

const BODY: Members = {
  type: 'object',
  additionalProperties: true,
  description:
    'Flat: the fields of a belief. Nested, for every type: grain_type, fields and common fields; the outer value wins.',
  anyOf: [{ required: ['subject', 'relation', 'object'] }, { required: ['fields'] }],
  properties: {
    subject: { type: 'string', description: 'Subject of a flat belief.' },
    relation: { type: 'string', description: 'Relation of a flat belief.' },
    object: { type: 'string', description: 'Object of a flat belief.' },
    confidence: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'Confidence from 0 to 1; the default is 1.',
      default: 1,
    },
    namespace: { type: 'string', description: 'Namespace of the grain; the default is default.', default: 'default' },
    tags: { type: 'array', items: { type: 'string' }, description: 'Tags of the grain; the default is none.' },
    grain_type: {
      enum: [...GRAIN_TYPE_NAMES],
      description: 'Type of the grain; the default is belief.',
      default: 'belief',
    },
    fields: {
      type: 'object',
      description: 'Fields of the grain in the nested shape; another type than belief needs it.',
    },
    options: outsideSchema(Input.properties.options),
    purpose: {
      type: 'string',
      description: 'Purpose of the processing, which consent is checked for; the default is storage.',
      default: 'storage',
    },
  },
};

export const add = defineCall({
  name: 'add',
  summary: 'Add a grain.',
  description:
    'A flat body is a belief; a body with fields is a grain of any type. A grain that the memory holds already is not stored again.',
  example: { subject: 'Ada', relation: 'likes', object: 'tea', user_id: 'ada', tags: ['drinks'] },
  needs: 'write',
  reach: 'binding',
  // The other steps call models, whose limits the server of the deployment counts.
  onAnyNode: ({ options }) => !wantsMore(options),
  mutates: true,
  onUnknown: 'warn',
  input: Input,
  output: Output,
  errors: ['VAL-E003', 'MEM-E005'],
  findUnknown: findInFields,
  grpc: rpc({
    rpc: 'Add',
    request: AddRequest,
    response: AddResponse,
    readInShard: (message) => plainInput(plain().readPlainAdd(message)),
    onMainThread: addAsks,
  }),
  http: [
    {
      verb: 'POST',
      path: 'M/add',
      bodySchema: BODY,
      findUnknown: unknownOutsideFields(ENVELOPE),
      read: ({ json }) => readGrain(json),
      readInShard: (body) => plainInput(plain().readPlainAddBody(body)),
      onMainThread: jsonAsks,
      answer: objectOf(
        {
          blob_hash: described(HASH, 'Hash of the stored grain, or of the grain that it duplicates.'),
          status: described(oneOf('added'), 'Always added, for a duplicate too.'),
        },
        {
          duplicate: described(oneOf(true), 'True when the memory held the grain already; absent otherwise.'),
          extracted_count: described(COUNT, 'Number of beliefs that were extracted; only with extract_memories.'),
          warnings: described(TEXTS, 'Parts of the request that were ignored or not fulfilled.'),
        },
      ),
      write: ({ hash, duplicate, warnings, extractedCount }) => ({
        blob_hash: hash,
        status: 'added',
        duplicate: duplicate || undefined,
        extracted_count: extractedCount,
        warnings: warnings.length === 0 ? undefined : warnings,
      }),
    },
  ],
  call: {
    method: 'add',
    ask: ({ grainType, fields, options, purpose }) => ({
      input: isPlain(fields)
        ? fields
        : { grainType: checkedGrainType(grainType), fields, sync: options?.sync ?? false },
      purpose,
    }),
    answer: (added, { options }) => ({ ...added, warnings: [...optionWarnings(options), ...added.warnings] }),
    around: async (input, context, perform) => {
      const { options, grainType, purpose } = input;
      if (!wantsMore(options)) return perform(input);
      const plain = { grainType, fields: datedNow(input.fields, context) };
      const dated = options?.extractEventDate === true ? await withEventDate(plain, context) : plain.fields;
      const found: Related =
        options?.autoRelate === true ? await withRelated({ grainType, fields: dated }, context) : { fields: dated };
      const { fields, related, warning } = found;
      const stored = await perform({ ...input, fields, options: moreDone(options) }, { related });
      const added = warning === undefined ? stored : { ...stored, warnings: [...stored.warnings, warning] };
      if (options?.extractMemories !== true) return added;
      const source = { grainType, fields, hash: added.hash };
      const { hashes, warnings } = await extractFrom([source], context, withinRequest(context, purpose));
      return { ...added, extractedCount: hashes.length, warnings: [...added.warnings, ...warnings] };
    },
  },
});
