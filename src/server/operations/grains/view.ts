// A grain as answers show it (service contract 4.1, read shape).
import Type, { type Static } from 'typebox';
import type { GrainView } from '../../../shards/protocol.ts';
import { Fields } from './fields.ts';

export const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const GrainOutput = Type.Object({
  blobHash: Type.String(),
  hash: Type.String(),
  grainType: Type.String(),
  fields: Fields,
  createdAt: Type.Integer(),
  namespace: Type.String(),
  userId: Type.Optional(Type.String()),
  supersededBy: Type.Optional(Type.String()),
  supersedes: Type.Optional(Type.String()),
  versionStatus: Type.Enum(['current', 'superseded']),
  sizeBytes: Type.Integer(),
});
export type GrainOutput = Static<typeof GrainOutput>;

export function grainOutput(view: GrainView): GrainOutput {
  return {
    blobHash: view.hash,
    ...view,
    versionStatus: view.supersededBy === undefined ? 'current' : 'superseded',
  };
}
