import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { BATCH_GRAINS_MAX } from '../../../engine/base/limits.ts';
import { ForgetRequest, ForgetResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { DryRun, isDryRun, Preview, previewOf } from '../erasure/dry-run.ts';
import { eraseUser } from '../erasure/erase-user.ts';
import { rpc } from '../grpc-face.ts';
import { either } from '../json-schema.ts';
import { type Members, nodeOf, outsideSchema, outward } from '../names.ts';
import { described, type Static, Type } from '../type.ts';
import { missing } from './fields.ts';
import { HASH_NAMES, hashAlias } from './hash-alias.ts';
import { Hash } from './view.ts';

const Input = Type.Object({
  hash: Type.Optional(described(Hash, 'Hash of the grain to forget.')),
  hashes: Type.Optional(
    Type.Array(Hash, {
      minItems: 1,
      maxItems: BATCH_GRAINS_MAX,
      description: 'Hashes of the grains to forget, at most 1,000.',
    }),
  ),
  subject: Type.Optional(
    Type.String({ minLength: 1, description: 'Forgets every grain with exactly this subject, all versions.' }),
  ),
  userId: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Alone: the user to erase; with hashes or a subject: only grains of this user.',
    }),
  ),
  reason: Type.Optional(
    Type.String({
      description: 'Why the grains are forgotten, which a policy may demand; the default is the x-reason header.',
    }),
  ),
  dryRun: DryRun,
});

const Forgotten = Type.Object({
  deleted: Type.Integer({ description: 'Number of grains that were forgotten.' }),
  hashes: Type.Array(Type.String(), { description: 'Hashes of the grains that were forgotten.' }),
  notFound: Type.Array(Type.String(), { description: 'Requested hashes that the memory does not hold.' }),
  status: Type.Literal('forgotten', { description: 'Always forgotten.' }),
});
const Erased = Type.Object({
  userId: Type.String({ description: 'The user who was erased.' }),
  count: Type.Integer({
    description: 'Number of grains that were deleted, all versions; 0 when the user was erased before.',
  }),
  keyFingerprint: Type.String({
    description: 'First 16 hexadecimal digits of the SHA-256 of the destroyed key; empty for an unknown user.',
  }),
  timestamp: Type.Integer({
    description: 'Time of the erasure in Unix seconds; a repeated call gives the time of the first one.',
  }),
  auditEntryHash: Type.Optional(Type.String({ description: 'Hash of the audit entry of the erasure.' })),
  status: Type.Literal('erased', { description: 'Always erased.' }),
});

type Output = Static<typeof Forgotten> | Static<typeof Erased> | Preview;

const SHAPES = { forgotten: Forgotten, erased: Erased, dry_run: Preview };

export const forget = defineOperation({
  name: 'forget',
  summary: 'Forget grains by hash or subject, or erase a user.',
  description:
    'Blob and index entries are removed at once. A user_id alone erases the user, which needs a key of an admin.',
  example: {
    hashes: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    reason: 'Asked for by the user.',
  },
  needs: 'write',
  on: 'memory',
  reach: ({ hash, hashes, subject, userId }) =>
    userId !== undefined && hash === undefined && hashes === undefined && subject === undefined
      ? { persons: [userId] }
      : 'binding',
  mutates: true,
  onUnknown: 'refuse',
  dryRun: true,
  input: Input,
  output: Type.Union([Forgotten, Erased, Preview]),
  errors: ['MEM-E001', 'POL-E001', 'POL-E003'],
  grpc: rpc({
    rpc: 'Forget',
    request: ForgetRequest,
    response: ForgetResponse,
    read: ({ hash }) => {
      if (hash === '') throw missing('hash');
      return { hash };
    },
    write: () => ({}),
  }),
  http: [
    {
      verb: 'POST',
      path: 'M/forget',
      bodySchema: outsideSchema(Input),
      otherNames: HASH_NAMES,
      read: ({ json }) => hashAlias(nodeOf(Input), json),
      answer: either(...Object.values(SHAPES).map((shape) => outsideSchema(shape))),
      write: (output): Members => outward(nodeOf(SHAPES[output.status]), output) as Members, // an object schema
    },
  ],
  async run({ hash, hashes, subject, userId, reason, dryRun = false }, context): Promise<Output> {
    const isDry = isDryRun({ dryRun }, context);
    const extras = defined({ reason });
    const targets = [...(hash === undefined ? [] : [hash]), ...(hashes ?? [])];
    if (targets.length === 0 && subject === undefined) {
      if (userId === undefined) throw new EngineError('VAL-E001', 'send one of blob_hash, hashes, subject, user_id');
      context.require('admin');
      if (isDry) return { userId, ...(await previewOf(context, { of: 'user', userId }, reason)) };
      return { ...(await eraseUser(context, userId, reason)), status: 'erased' };
    }
    const wanted = {
      hashes: targets.length === 0 ? undefined : targets,
      subject,
      userId,
    };
    // A missing hash is an error if it is the only target; otherwise the answer lists it.
    const isAlone = hash !== undefined && targets.length === 1 && subject === undefined;
    if (isDry) {
      const preview = await previewOf(context, { of: 'grains', ...wanted }, reason);
      if (isAlone && preview.count === 0) throw new EngineError('MEM-E001', 'grain not found');
      return preview;
    }
    const output = await context.call('forget', { ...wanted, check: false }, extras);
    if (isAlone && output.hashes.length === 0) throw new EngineError('MEM-E001', 'grain not found');
    return {
      deleted: output.hashes.length,
      hashes: [...output.hashes],
      notFound: [...output.notFound],
      status: 'forgotten',
    };
  },
});
