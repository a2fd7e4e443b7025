// Exports a memory as one .mg file. Offsets precede the grains, so two passes read the memory: the first collects the
// lengths, four bytes a grain, and the second streams the blobs. No temporary file and no buffer holds the whole export.
import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { TRANSFER_BYTES } from '../../../engine/base/limits.ts';
import { ContainerWriter } from '../../../engine/grain/codec/container-writer.ts';
import type { GrainStatus } from '../../../engine/grain/codec/manifest.ts';
import type { Address } from '../../../engine/grain/grain.ts';
import type { CallContext, ExportedGrain, GrainFilter } from '../../../shards/protocol.ts';
import { includesScope } from '../../auth/principal.ts';
import type { Context } from '../../context.ts';
import type { Shards } from '../../shards.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';
import { checkedGrainType } from './grain-type.ts';

const Input = Type.Object({
  namespace: Type.Optional(Type.String({ description: 'Only grains of this namespace; the default is all.' })),
  grainType: Type.Optional(
    Type.Array(Type.String(), { description: 'Only grains of these types; the default is all.' }),
  ),
  includeSuperseded: Type.Optional(
    Type.Boolean({ description: 'Whether old versions are in the file; the default is true.', default: true }),
  ),
});

export const exportFile = defineOperation({
  name: 'export_file',
  summary: 'Export the grains of a memory as one .mg file.',
  description: 'The file comes in pieces, in the format of the Open Memory Specification.',
  example: { namespace: 'home', include_superseded: false },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  slow: true,
  input: Input,
  output: Type.Object({
    fileName: Type.String({ description: 'Name of the file.' }),
    bytes: Type.Unsafe<AsyncIterable<Uint8Array>>({ description: 'The .mg file, in pieces.' }),
  }),
  http: [
    {
      verb: 'GET',
      path: 'M/export-file',
      answers: { 'application/octet-stream': { type: 'string', format: 'binary' } },
      reply: ({ fileName, bytes }) => ({
        kind: 'stream',
        status: 200,
        headers: {
          'content-type': 'application/octet-stream',
          'content-disposition': `attachment; filename="${fileName}"`,
        },
        body: bytes,
      }),
    },
  ],
  async run(input, context) {
    const filter: GrainFilter = {
      includeSuperseded: input.includeSuperseded ?? true,
      namespace: input.namespace,
      grainTypes: input.grainType?.map(checkedGrainType),
    };
    // Tells a whole backup of the memory from a partial one.
    const isWhole =
      Object.keys(input).every((name) => name === 'includeSuperseded') &&
      filter.includeSuperseded === true &&
      context.namespace === undefined &&
      context.userId === undefined;
    const source = new PageSource(context, filter);
    const plan = await source.measure();
    // A shard that refuses writes can still export.
    await context
      .call('note', { event: 'export.file', details: { grains: plan.lengths.length, whole: isWhole ? 1 : 0 } })
      .catch(toleratingStorage);
    return { fileName: `${context.memory.id}.mg`, bytes: source.file(plan) };
  },
});

function toleratingStorage(error: unknown): void {
  if (!(error instanceof EngineError && error.code === 'STO-E001')) throw error;
}

interface Plan {
  readonly lengths: Uint32Array;
  /** Number of grains in each partition. */
  readonly counts: readonly number[];
  readonly manifest: ReadonlyMap<Address, GrainStatus>;
}

class PageSource {
  readonly #shards: Shards;
  readonly #context: Omit<CallContext, 'partition'>;
  readonly #partitions: number;
  readonly #filter: GrainFilter;

  constructor(context: Context, filter: GrainFilter) {
    this.#shards = context.services.shards;
    this.#partitions = context.memory.partitions;
    this.#filter = filter;
    // No request deadline: the caller's download speed sets the length of the second pass.
    this.#context = {
      memory: context.memory.number,
      actor: context.principal.actor,
      owns: includesScope(context.principal, 'admin') || undefined,
      requestId: context.requestId,
      agentId: context.principal.agentId,
      namespace: context.namespace,
      userId: context.userId,
      purpose: context.purpose,
    };
  }

  async *#grains(partition: number): AsyncGenerator<ExportedGrain> {
    let after = 0;
    for (;;) {
      const page = await this.#shards.callPartition(
        'exportPage',
        { ...this.#context, partition },
        { after, limitBytes: TRANSFER_BYTES, filter: this.#filter },
      );
      yield* page.grains;
      if (page.done || page.last <= after) return;
      after = page.last;
    }
  }

  async measure(): Promise<Plan> {
    const lengths: number[] = [];
    const counts: number[] = [];
    const manifest = new Map<Address, GrainStatus>();
    for (let partition = 0; partition < this.#partitions; partition += 1) {
      const before = lengths.length;
      for await (const grain of this.#grains(partition)) {
        lengths.push(grain.blob.length);
        const status = statusOf(grain);
        if (status !== undefined) manifest.set(grain.hash as Address, status); // an address, from the shard
      }
      counts.push(lengths.length - before);
    }
    return { lengths: Uint32Array.from(lengths), counts, manifest };
  }

  async *file({ lengths, counts, manifest }: Plan): AsyncGenerator<Uint8Array> {
    // Grains come in write order, so unsorted; several partitions may hold the same grain.
    const writer = new ContainerWriter({ lengths, manifest, sorted: false, deduplicated: counts.length === 1 });
    yield* writer.begin();
    let at = 0;
    for (const [partition, count] of counts.entries()) {
      let left = count;
      // Skip grains that were written after the first pass; they come last.
      for await (const { blob } of this.#grains(partition)) {
        if (left === 0) break;
        if (blob.length !== lengths[at]) throw changed();
        yield writer.add(blob);
        at += 1;
        left -= 1;
      }
      if (left > 0) throw changed();
    }
    yield* writer.end();
  }
}

/** The error when the announced file cannot be completed: the connection is cut, and the caller must retry. */
function changed(): EngineError {
  return new EngineError('STO-E002', 'grains were removed while the file was written: request the export again');
}

function statusOf(grain: ExportedGrain): GrainStatus | undefined {
  if (grain.supersededBy === undefined && grain.systemValidToMs === undefined && grain.verificationStatus === undefined)
    return undefined;
  return defined({
    supersededBy: grain.supersededBy === undefined ? undefined : (grain.supersededBy as Address), // from the shard
    systemValidTo: grain.systemValidToMs,
    // The shard stores only statuses of the format.
    verificationStatus:
      grain.verificationStatus === undefined
        ? undefined
        : (grain.verificationStatus as NonNullable<GrainStatus['verificationStatus']>),
  });
}
