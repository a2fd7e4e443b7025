import { defined } from '../../../engine/base/defined.ts';
import { SupersedeRequest, SupersedeResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { HASH, objectOf, oneOf, TEXTS } from '../json-schema.ts';
import { isMembers, type Members, parsedJson } from '../names.ts';
import { described, Type } from '../type.ts';
import { bodyOf, Fields, fieldsOf, findInFields, missing, mistyped, unknownOutsideFields } from './fields.ts';
import { Hash } from './view.ts';

const Input = Type.Object({
  oldHash: described(Hash, 'Hash of the version to supersede, which must be current.'),
  grainType: Type.Optional(
    Type.String({ description: 'Type of the grain, which must be that of the old version; the default is that type.' }),
  ),
  fields: described(Fields, 'New values of fields; what is not sent carries forward, and null drops a field.'),
  reason: Type.Optional(
    Type.String({
      description: 'Why the grain is superseded, which a policy may demand; the default is the x-reason header.',
    }),
  ),
});

const ENVELOPE = new Set(['blob_hash', 'old_hash', 'hash', 'grain_type', 'reason', 'purpose']);

/** Reads new field values, flat or in `fields`. Keeps nulls, which drop fields of the old version. */
function readBody(json: unknown): unknown {
  const body = bodyOf(json);
  const oldHash = body['blob_hash'] ?? body['old_hash'] ?? body['hash'];
  if (oldHash === undefined || oldHash === null) throw missing('blob_hash');
  const { grain_type: grainType, reason } = body;
  return defined({
    oldHash,
    fields: fieldsOf(body, ENVELOPE),
    grainType: grainType === null || grainType === '' ? undefined : grainType,
    reason: reason ?? undefined,
  });
}

const BODY: Members = {
  type: 'object',
  additionalProperties: true,
  required: ['blob_hash'],
  description: 'New field values flat or in fields; what is not sent carries forward, null drops a field.',
  properties: {
    blob_hash: { type: 'string', description: 'Hash of the version to supersede, which must be current.' },
    fields: {
      type: 'object',
      description:
        'New values of fields in the nested shape; what is not sent carries forward, and null drops a field.',
    },
    grain_type: {
      type: 'string',
      description: 'Type of the grain, which must be that of the old version; the default is that type.',
    },
    reason: {
      type: 'string',
      description: 'Why the grain is superseded, which a policy may demand; the default is the x-reason header.',
    },
  },
};

export const supersede = defineOperation({
  name: 'supersede',
  summary: 'Replace a grain by a new version.',
  description: 'Fields that are not sent carry forward; the old version stays readable by its hash.',
  example: {
    blob_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    object: 'coffee',
    reason: 'She said so.',
  },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  onAnyNode: true,
  mutates: true,
  onUnknown: 'warn',
  input: Input,
  output: Type.Object({
    oldHash: Type.String({ description: 'Hash of the version that was superseded.' }),
    newHash: Type.String({ description: 'Hash of the new version.' }),
    warnings: Type.Array(Type.String(), { description: 'Parts of the request that were ignored or not fulfilled.' }),
  }),
  errors: ['MEM-E001', 'MEM-E002', 'POL-E004'],
  findUnknown: findInFields,
  grpc: rpc({
    rpc: 'Supersede',
    request: SupersedeRequest,
    response: SupersedeResponse,
    read: ({ oldHash, grainType, fieldsJson }) => {
      const fields = fieldsJson === '' ? {} : parsedJson(fieldsJson, 'fields_json');
      if (!isMembers(fields)) throw mistyped('fields_json', 'object');
      return defined({
        oldHash: oldHash === '' ? undefined : oldHash,
        fields,
        grainType: grainType === '' ? undefined : grainType,
      });
    },
  }),
  http: [
    {
      verb: 'POST',
      path: 'M/supersede',
      bodySchema: BODY,
      findUnknown: unknownOutsideFields(ENVELOPE),
      read: ({ json }) => readBody(json),
      answer: objectOf(
        {
          blob_hash: described(HASH, 'Hash of the new version.'),
          new_hash: described(HASH, 'Hash of the new version.'),
          superseded: described(HASH, 'Hash of the version that was superseded.'),
          status: described(oneOf('superseded'), 'Always superseded.'),
        },
        { warnings: described(TEXTS, 'Parts of the request that were ignored or not fulfilled.') },
      ),
      write: ({ oldHash, newHash, warnings }) => ({
        blob_hash: newHash,
        new_hash: newHash,
        superseded: oldHash,
        status: 'superseded',
        warnings: warnings.length === 0 ? undefined : warnings,
      }),
    },
  ],
  async run({ oldHash, grainType, fields, reason }, context) {
    const output = await context.call('supersede', { oldHash, fields, grainType }, defined({ reason }));
    return { ...output, warnings: [...output.warnings] };
  },
});
