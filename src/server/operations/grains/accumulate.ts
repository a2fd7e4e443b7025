import type { JsonValue } from '../../../shards/protocol.ts';
import { AccumulateRequest, AccumulateResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation, rpc } from '../define.ts';
import { HASH, oneOf, withMembers } from '../json-schema.ts';
import { type Members, nodeOf, outsideSchema, outward } from '../names.ts';
import { Type } from '../type.ts';
import { Fields, missing, mistyped } from './fields.ts';
import { HASH_NAMES, hashAlias } from './hash-alias.ts';
import { Hash } from './view.ts';

const Input = Type.Object({
  hash: Type.Optional(Hash),
  namespace: Type.Optional(Type.String()),
  subject: Type.Optional(Type.String({ minLength: 1 })),
  relation: Type.Optional(Type.String({ minLength: 1 })),
  // Open, as integers beyond 2^53 come as bigint: `checkDeltas` looks at them.
  deltas: Type.Unsafe<Record<string, number>>({ type: 'object' }),
  set: Type.Optional(Fields),
  reason: Type.Optional(Type.String()),
});

const BODY: Members = {
  type: 'object',
  required: ['deltas'],
  properties: {
    ...Object.fromEntries(
      Object.entries(Input.properties).map(([name, schema]) => [name === 'hash' ? 'blob_hash' : name, schema]),
    ),
    deltas: { type: 'object', additionalProperties: { type: 'number' } },
  },
};

const Value = Type.Unsafe<JsonValue>({});
const Output = Type.Object({
  oldHash: Type.String(),
  newHash: Type.String(),
  applied: Type.Array(Type.Object({ field: Type.String(), old: Value, new: Value })),
  fields: Fields,
});

export const accumulate = defineOperation({
  name: 'accumulate',
  summary: 'Add to the numbers of a grain: a new version of it.',
  needs: 'write',
  on: 'memory',
  reach: 'binding',
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
      answer: withMembers(outsideSchema(Output), { blob_hash: HASH, status: oneOf('accumulated') }),
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
      reason === undefined ? {} : { reason },
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
  return { subject, relation, ...(namespace === undefined ? {} : { namespace }) };
}
