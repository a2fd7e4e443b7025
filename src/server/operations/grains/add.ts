import { GRAIN_TYPE_NAMES } from '../../../engine/grain/grain.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import { AddRequest, AddResponse } from '../../gen/memory/v1/memory.ts';
import { defineCall, rpc } from '../define.ts';
import { COUNT, HASH, objectOf, oneOf, TEXTS } from '../json-schema.ts';
import { inward, type Members, nodeOf, outsideSchema } from '../names.ts';
import { addAsks, jsonAsks } from '../remember/asks-extraction.ts';
import { datedNow, extractFrom, moreDone, wantsMore, withEventDate, withinRequest } from '../remember/extraction.ts';
import { Type } from '../type.ts';
import { withRelated } from './auto-relate.ts';
import {
  bodyOf,
  Fields,
  fieldsOf,
  findInFields,
  missing,
  mistyped,
  textMember,
  unknownBesideFields,
} from './fields.ts';
import { checkedGrainType } from './grain-type.ts';
import { AddOptionsInput, optionWarnings } from './options.ts';

const Input = Type.Object({
  grainType: Type.String(),
  fields: Fields,
  options: Type.Optional(AddOptionsInput),
  purpose: Type.Optional(Type.String()),
});

const Output = Type.Object({
  hash: Type.String(),
  duplicate: Type.Boolean(),
  warnings: Type.Array(Type.String()),
  /** There when extraction was asked for. */
  extractedCount: Type.Optional(Type.Integer()),
});

const ENVELOPE = new Set(['grain_type', 'options', 'purpose']);

/** What a belief of /add must bring; the shard checks the rest. */
const BELIEF_FIELDS = ['subject', 'relation', 'object'] as const;

/** A belief flat or nested; a grain of another type in the shape of batch-add's items, with `fields`. */
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

const BODY: Members = {
  type: 'object',
  additionalProperties: true,
  description:
    'Flat: the fields of a belief. Nested, for every type: grain_type, fields and common fields; the outer value wins.',
  anyOf: [{ required: ['subject', 'relation', 'object'] }, { required: ['fields'] }],
  properties: {
    subject: { type: 'string' },
    relation: { type: 'string' },
    object: { type: 'string' },
    confidence: { type: 'number', minimum: 0, maximum: 1 },
    namespace: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    grain_type: { enum: [...GRAIN_TYPE_NAMES] },
    fields: { type: 'object' },
    options: outsideSchema(AddOptionsInput),
    purpose: { type: 'string' },
  },
};

export const add = defineCall({
  name: 'add',
  summary: 'Add a grain.',
  needs: 'write',
  reach: 'binding',
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
    staysHere: addAsks,
  }),
  http: [
    {
      verb: 'POST',
      path: 'M/add',
      bodySchema: BODY,
      findUnknown: unknownBesideFields(ENVELOPE),
      read: ({ json }) => readGrain(json),
      staysHere: jsonAsks,
      answer: objectOf(
        { blob_hash: HASH, status: oneOf('added') },
        { duplicate: oneOf(true), extracted_count: COUNT, warnings: TEXTS },
      ),
      write: ({ hash, duplicate, warnings, extractedCount }) => ({
        blob_hash: hash,
        status: 'added',
        ...(duplicate ? { duplicate } : {}),
        ...(extractedCount === undefined ? {} : { extracted_count: extractedCount }),
        ...(warnings.length === 0 ? {} : { warnings }),
      }),
    },
  ],
  call: {
    method: 'add',
    ask: ({ grainType, fields, options, purpose }) => ({
      input: { grainType: checkedGrainType(grainType), fields, sync: options?.sync ?? false },
      purpose,
    }),
    answer: (added, { options }) => ({ ...added, warnings: [...optionWarnings(options), ...added.warnings] }),
    around: async (input, context, perform) => {
      const { options, grainType, purpose } = input;
      if (!wantsMore(options)) return perform(input);
      const plain = { grainType, fields: datedNow(input.fields, context) };
      const dated = options?.extractEventDate === true ? await withEventDate(plain, context) : plain.fields;
      const { fields, warning } =
        options?.autoRelate === true ? await withRelated({ grainType, fields: dated }, context) : { fields: dated };
      const stored = await perform({ ...input, fields, options: moreDone(options) });
      const added = warning === undefined ? stored : { ...stored, warnings: [...stored.warnings, warning] };
      if (options?.extractMemories !== true) return added;
      const source = { grainType, fields, hash: added.hash };
      const { hashes, warnings } = await extractFrom([source], context, withinRequest(context, purpose));
      return { ...added, extractedCount: hashes.length, warnings: [...added.warnings, ...warnings] };
    },
  },
});
