import { SupersedeRequest, SupersedeResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation, rpc } from '../define.ts';
import { HASH, objectOf, oneOf, TEXTS } from '../json-schema.ts';
import { isMembers, type Members, parsedJson } from '../names.ts';
import { Type } from '../type.ts';
import { bodyOf, Fields, fieldsOf, findInFields, missing, mistyped, unknownBesideFields } from './fields.ts';
import { Hash } from './view.ts';

const Input = Type.Object({
  oldHash: Hash,
  grainType: Type.Optional(Type.String()),
  fields: Fields,
  reason: Type.Optional(Type.String()),
});

const ENVELOPE = new Set(['blob_hash', 'old_hash', 'hash', 'grain_type', 'reason', 'purpose']);

/** New field values flat or in `fields`. A null stays: it drops the old version's field. */
function readBody(json: unknown): unknown {
  const body = bodyOf(json);
  const oldHash = body['blob_hash'] ?? body['old_hash'] ?? body['hash'];
  if (oldHash === undefined || oldHash === null) throw missing('blob_hash');
  const { grain_type: grainType, reason } = body;
  return {
    oldHash,
    fields: fieldsOf(body, ENVELOPE),
    ...(grainType === undefined || grainType === null || grainType === '' ? {} : { grainType }),
    ...(reason === undefined || reason === null ? {} : { reason }),
  };
}

const BODY: Members = {
  type: 'object',
  additionalProperties: true,
  required: ['blob_hash'],
  description: 'New field values flat or in fields; what is not sent carries forward, null drops a field.',
  properties: {
    blob_hash: { type: 'string' },
    fields: { type: 'object' },
    grain_type: { type: 'string' },
    reason: { type: 'string' },
  },
};

export const supersede = defineOperation({
  name: 'supersede',
  summary: 'Put a new version in the place of a grain.',
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  input: Input,
  output: Type.Object({ oldHash: Type.String(), newHash: Type.String(), warnings: Type.Array(Type.String()) }),
  errors: ['MEM-E001', 'MEM-E002', 'POL-E004'],
  findUnknown: findInFields,
  grpc: rpc({
    rpc: 'Supersede',
    request: SupersedeRequest,
    response: SupersedeResponse,
    read: ({ oldHash, grainType, fieldsJson }) => {
      const fields = fieldsJson === '' ? {} : parsedJson(fieldsJson, 'fields_json');
      if (!isMembers(fields)) throw mistyped('fields_json', 'object');
      return { ...(oldHash === '' ? {} : { oldHash }), fields, ...(grainType === '' ? {} : { grainType }) };
    },
  }),
  http: [
    {
      verb: 'POST',
      path: 'M/supersede',
      bodySchema: BODY,
      findUnknown: unknownBesideFields(ENVELOPE),
      read: ({ json }) => readBody(json),
      answer: objectOf(
        { blob_hash: HASH, new_hash: HASH, superseded: HASH, status: oneOf('superseded') },
        { warnings: TEXTS },
      ),
      write: ({ oldHash, newHash, warnings }) => ({
        blob_hash: newHash,
        new_hash: newHash,
        superseded: oldHash,
        status: 'superseded',
        ...(warnings.length === 0 ? {} : { warnings }),
      }),
    },
  ],
  async run({ oldHash, grainType, fields, reason }, context) {
    const output = await context.call(
      'supersede',
      { oldHash, fields, ...(grainType === undefined ? {} : { grainType }) },
      reason === undefined ? {} : { reason },
    );
    return { ...output, warnings: [...output.warnings] };
  },
});
