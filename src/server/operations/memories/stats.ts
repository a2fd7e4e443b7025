import { GRAIN_TYPE_NAMES } from '../../../engine/grain/grain.ts';
import type { MemoryRecord } from '../../control/memories.ts';
import { StatsRequest, StatsResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { renamed } from '../json-schema.ts';
import { type Members, nodeOf, outsideSchema, outward } from '../names.ts';
import { described, Type } from '../type.ts';

const Counts = Type.Unsafe<Record<string, number>>({ type: 'object' });

/** An embedder. Until it is open, `dimensions` is 0 and the name is the configured one. */
export const EmbeddingOutput = Type.Object({
  backend: Type.String({ description: 'Name of the embedder; until it is open, the name that it is configured by.' }),
  dimensions: Type.Integer({ description: 'Number of dimensions of its vectors; 0 until the embedder is open.' }),
  state: Type.Enum(['none', 'cold', 'opening', 'ready', 'failed'], { description: 'State of the embedder.' }),
  reason: Type.Optional(Type.String({ description: 'Why the embedder failed, or which embedder it replaces.' })),
});

const Output = Type.Object({
  totalGrains: Type.Integer({ description: 'Number of grains, current and superseded.' }),
  diskSpaceBytes: Type.Integer({ description: 'Size of the memory on disk in bytes.' }),
  typeCounts: described(Counts, 'Number of grains by grain type.'),
  namespaces: Type.Array(Type.String(), { description: 'Names of the namespaces that hold grains.' }),
  userCount: Type.Integer({ description: 'Number of data subjects.' }),
  supersededGrains: Type.Integer({ description: 'Number of superseded grains.' }),
  /** Absent for a bound caller, as are all counts that include other callers' data. */
  auditEntries: Type.Optional(Type.Integer({ description: 'Number of audit entries; absent for a bound caller.' })),
  hasEncryption: Type.Boolean({ description: 'Always true: every grain is encrypted.' }),
  hasPolicy: Type.Boolean({ description: 'Whether the memory has policy presets.' }),
  pendingWrites: Type.Optional(
    Type.Integer({
      description: 'Number of writes that its shards hold and have not committed; absent for a bound caller.',
    }),
  ),
  triples: Type.Integer({ description: 'Number of grains in the triple index.' }),
  vectors: Type.Optional(Type.Integer({ description: 'Number of vectors; absent for a bound caller.' })),
  purgePending: Type.Optional(
    Type.Integer({ description: 'Number of index blocks to rewrite after an erasure; absent for a bound caller.' }),
  ),
  indexLag: Type.Optional(
    Type.Integer({ description: 'Number of grains that are not embedded yet; absent for a bound caller.' }),
  ),
  embedding: described(EmbeddingOutput, 'Embedder of the memory.'),
});

export const stats = defineOperation({
  name: 'stats',
  summary: 'Show what a memory holds.',
  description: 'A bound key counts its own part of the memory.',
  example: {},
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Type.Object({}),
  output: Output,
  grpc: rpc({ rpc: 'Stats', request: StatsRequest, response: StatsResponse }),
  http: [
    {
      verb: 'GET',
      path: 'M/stats',
      answer: renamed(outsideSchema(Output), 'user_count', 'users'),
      write: (output) => {
        const { user_count: users, ...rest } = outward(nodeOf(Output), output) as Members; // an object schema
        return { ...rest, users };
      },
    },
  ],
  async run(_, context) {
    const { indexLag, pendingWrites, ...statistics } = await context.call('statistics', {});
    const embedding = context.services.embedders.status(context.memory.vectorBackend ?? '');
    return {
      ...statistics,
      typeCounts: allTypes(statistics.typeCounts),
      namespaces: [...statistics.namespaces],
      hasEncryption: true,
      hasPolicy: hasPolicy(context.memory),
      // Without an embedder nothing waits for vectors.
      indexLag: indexLag === undefined ? undefined : embedding.state === 'none' ? 0 : indexLag,
      // The count includes other memories of the shard, so a bound caller must not see it.
      pendingWrites:
        pendingWrites === undefined || context.principal.memoryIds !== undefined ? undefined : pendingWrites,
      embedding,
    };
  },
});

/** True when the memory has presets; overrides of the baseline alone do not count. */
function hasPolicy({ governing, policy }: MemoryRecord): boolean {
  return (governing?.presets ?? policy?.presets ?? []).length > 0;
}

/** Counts of all types; 0 for types without grains. */
export function allTypes(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(GRAIN_TYPE_NAMES.map((name) => [name, counts[name] ?? 0]));
}
