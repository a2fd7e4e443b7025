import Type from 'typebox';
import { GRAIN_TYPE_NAMES } from '../../../engine/grain/grain.ts';
import { StatsRequest, StatsResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation, rpc } from '../define.ts';
import { type Members, nodeOf, outward } from '../names.ts';

const Counts = Type.Unsafe<Record<string, number>>({ type: 'object' });

const Output = Type.Object({
  totalGrains: Type.Integer(),
  diskSpaceBytes: Type.Integer(),
  typeCounts: Counts,
  namespaces: Type.Array(Type.String()),
  userCount: Type.Integer(),
  supersededGrains: Type.Integer(),
  auditEntries: Type.Integer(),
  hasEncryption: Type.Boolean(),
  hasPolicy: Type.Boolean(),
  pendingWrites: Type.Integer(),
  triples: Type.Integer(),
  vectors: Type.Integer(),
  purgePending: Type.Integer(),
  embedding: Type.Object({ backend: Type.String(), dimensions: Type.Integer() }),
});

export const stats = defineOperation({
  name: 'stats',
  summary: 'What a memory holds.',
  needs: 'read',
  on: 'memory',
  mutates: false,
  input: Type.Object({}),
  output: Output,
  grpc: rpc({ rpc: 'Stats', request: StatsRequest, response: StatsResponse }),
  http: [
    {
      verb: 'GET',
      path: 'M/stats',
      write: (output) => {
        const { user_count: users, ...rest } = outward(nodeOf(Output), output) as Members; // an object schema
        return { ...rest, users };
      },
    },
  ],
  async run(_, context) {
    const statistics = await context.call('statistics', {});
    return {
      ...statistics,
      typeCounts: allTypes(statistics.typeCounts),
      namespaces: [...statistics.namespaces],
      hasEncryption: true,
      hasPolicy: false,
      embedding: { backend: 'none', dimensions: 0 },
    };
  },
});

/** Counts of all ten types, those without grains too. */
export function allTypes(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(GRAIN_TYPE_NAMES.map((name) => [name, counts[name] ?? 0]));
}
