// An edge of the graph, as answers show it.
import type { EdgeView } from '../../../shards/protocol.ts';
import { seconds } from '../seconds.ts';
import { type Static, Type } from '../type.ts';

export const Edge = Type.Object({
  source: Type.String({ description: 'Subject of the grain.' }),
  relation: Type.String({ description: 'Relation of the grain; its type where it has none.' }),
  target: Type.String({ description: 'Object of the grain.' }),
  hash: Type.String({ description: 'Hash of the grain.' }),
  confidence: Type.Number({ description: 'Confidence of the grain, 0 to 1.' }),
  createdAt: Type.Integer({ description: 'Time at which the grain was created, in Unix seconds.' }),
});

export function edgeOutput({ source, relation, target, hash, confidence, createdAtMs }: EdgeView): Static<typeof Edge> {
  return { source, relation, target, hash, confidence, createdAt: seconds(createdAtMs) };
}
