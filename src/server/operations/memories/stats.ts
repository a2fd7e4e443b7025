import { GRAIN_TYPE_NAMES } from '../../../engine/grain/grain.ts';
import type { MemoryRecord } from '../../control/memories.ts';
import { StatsRequest, StatsResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation, rpc } from '../define.ts';
import { renamed } from '../json-schema.ts';
import { type Members, nodeOf, outsideSchema, outward } from '../names.ts';
import { Type } from '../type.ts';

const Counts = Type.Unsafe<Record<string, number>>({ type: 'object' });

/** An embedder: its own name once it is open, before that what it is configured by. `dimensions` is 0 until then. */
export const EmbeddingOutput = Type.Object({
  backend: Type.String(),
  dimensions: Type.Integer(),
  state: Type.Enum(['none', 'cold', 'opening', 'ready', 'failed']),
  /** Why it failed, or what it stands in for. */
  reason: Type.Optional(Type.String()),
});

const Output = Type.Object({
  totalGrains: Type.Integer(),
  diskSpaceBytes: Type.Integer(),
  typeCounts: Counts,
  namespaces: Type.Array(Type.String()),
  userCount: Type.Integer(),
  supersededGrains: Type.Integer(),
  /** Whatever counts what others do is absent for a bound caller. */
  auditEntries: Type.Optional(Type.Integer()),
  hasEncryption: Type.Boolean(),
  hasPolicy: Type.Boolean(),
  pendingWrites: Type.Optional(Type.Integer()),
  triples: Type.Integer(),
  vectors: Type.Optional(Type.Integer()),
  purgePending: Type.Optional(Type.Integer()),
  /** Grains that have still to be embedded. */
  indexLag: Type.Optional(Type.Integer()),
  embedding: EmbeddingOutput,
});

export const stats = defineOperation({
  name: 'stats',
  summary: 'What a memory holds.',
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
      // Nothing waits for an embedder that is not to be.
      ...(indexLag === undefined ? {} : { indexLag: embedding.state === 'none' ? 0 : indexLag }),
      // A shard's, which other memories share.
      ...(pendingWrites === undefined || context.principal.memoryId !== undefined ? {} : { pendingWrites }),
      embedding,
    };
  },
});

/** True for presets; overrides beside the baseline are a policy too, but no preset. */
function hasPolicy({ governing, policy }: MemoryRecord): boolean {
  return (governing?.presets ?? policy?.presets ?? []).length > 0;
}

/** Counts of all ten types, those without grains too. */
export function allTypes(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(GRAIN_TYPE_NAMES.map((name) => [name, counts[name] ?? 0]));
}
