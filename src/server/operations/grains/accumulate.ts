import { defined } from '../../../engine/base/defined.ts';
import type { JsonValue } from '../../../shards/protocol.ts';
import { AccumulateRequest, AccumulateResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { HASH, oneOf, withMembers } from '../json-schema.ts';
import { type Members, nodeOf, outsideSchema, outward } from '../names.ts';
import { described, Type } from '../type.ts';
import { Fields, missing, mistyped } from './fields.ts';
import { HASH_NAMES, hashAlias } from './hash-alias.ts';
import { Hash } from './view.ts';

const Input = Type.Object({
  hash: Type.Optional(described(Hash, 'Hash of the grain in any of its versions; the newest version is changed.')),
  namespace: Type.Optional(
    Type.String({ description: 'Namespace to look for subject and relation in; the default is the whole memory.' }),
  ),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'With relation, in place of a hash: the newest current grain with this subject.',
    }),
  ),
  relation: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'With subject, in place of a hash: the newest current grain with this relation.',
    }),
  ),
  // Open, because integers beyond 2^53 arrive as bigint; `checkDeltas` checks them.
  deltas: Type.Unsafe<Record<string, number>>({
    type: 'object',
    description: 'Numbers to add, by field; a field that is missing starts at 0.',
  }),
  set: Type.Optional(described(Fields, 'Fields to set to these values in the new version.')),
  reason: Type.Optional(Type.String({ description: 'Why the grain is changed; the default is the x-reason header.' })),
});

const BODY: Members = {
  type: 'object',
  required: ['deltas'],
  properties: {
    ...Object.fromEntries(
      Object.entries(Input.properties).map(([name, schema]) => [name === 'hash' ? 'blob_hash' : name, schema]),
    ),
    deltas: {
      type: 'object',
      additionalProperties: { type: 'number' },
      description: 'Numbers to add, by field; a field that is missing starts at 0.',
    },
  },
};

const Value = Type.Unsafe<JsonValue>({});
const Output = Type.Object({
  oldHash: Type.String({ description: 'Hash of the version that was current before.' }),
  newHash: Type.String({ description: 'Hash of the new version.' }),
  applied: Type.Array(
    Type.Object({
      field: Type.String({ description: 'Name of the field.' }),
      old: described(Value, 'Value before.'),
      new: described(Value, 'Value after.'),
    }),
    { description: 'The amounts that were added, field by field.' },
  ),
  fields: described(Fields, 'All fields of the new version.'),
});

export const accumulate = defineOperation({
  name: 'accumulate',
  summary: 'Add to the numbers of a grain, which makes a new version of it.',
  description: 'The newest version is changed, whichever version is named; concurrent calls all count.',
  example: { subject: 'Ada', relation: 'visits', deltas: { count: 1 } },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  onAnyNode: true,
  mutates: true,
  onUnknown: 'warn',
  input: Input,
  output: Output,
  errors: ['MEM-E001', 'VAL-E001'],
  grpc: rpc({ rpc: 'Accumulate', request: AccumulateRequest, response: AccumulateResponse }),
  http: [
    {
      verb: 'POST',
      path: 'M/accumulate',
      bodySchema: BODY,
      otherNames: HASH_NAMES,
      read: ({ json }) => hashAlias(nodeOf(Input), json),
      answer: withMembers(outsideSchema(Output), {
        blob_hash: described(HASH, 'Hash of the new version.'),
        status: described(oneOf('accumulated'), 'Always accumulated.'),
      }),
      write: (output) => ({
        blob_hash: output.newHash,
        ...(outward(nodeOf(Output), output) as object), // an object schema gives an object
        status: 'accumulated',
      }),
    },
  ],
  async run({ hash, namespace, subject, relation, deltas, set, reason }, context) {
    checkDeltas(deltas);
    const output = await context.call(
      'accumulate',
      { target: targetOf({ hash, namespace, subject, relation }), deltas, set: set ?? {} },
      defined({ reason }),
    );
    return { ...output, applied: [...output.applied] };
  },
});

function checkDeltas(deltas: Readonly<Record<string, unknown>>): void {
  for (const [field, delta] of Object.entries(deltas))
    if (typeof delta !== 'number' && typeof delta !== 'bigint') throw mistyped(`deltas.${field}`, 'number');
}

interface Named {
  readonly hash: string | undefined;
  readonly namespace: string | undefined;
  readonly subject: string | undefined;
  readonly relation: string | undefined;
}

function targetOf({ hash, namespace, subject, relation }: Named) {
  if (hash !== undefined) return { hash };
  if (subject === undefined) throw missing(relation === undefined ? 'blob_hash' : 'subject');
  if (relation === undefined) throw missing('relation');
  return { subject, relation, namespace };
}
