// A grain as answers show it (service contract 4.1, read shape).
import type { GrainView } from '../../../shards/protocol.ts';
import { type Static, Type } from '../type.ts';
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
  /** Of a known grain that was read again: its further sources, the newest first. */
  sources: Type.Optional(Type.Array(Hash)),
  versionStatus: Type.Enum(['current', 'superseded']),
  sizeBytes: Type.Integer(),
});
export type GrainOutput = Static<typeof GrainOutput>;

export function grainOutput(view: GrainView): GrainOutput {
  const { sources, ...rest } = view;
  return {
    blobHash: view.hash,
    ...rest,
    ...(sources === undefined ? {} : { sources: [...sources] }),
    versionStatus: view.supersededBy === undefined ? 'current' : 'superseded',
  };
}
