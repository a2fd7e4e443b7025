// Dry runs of removals: count the grains that would be removed, by type and time. They change nothing but leave an audit entry.
import { defined } from '../../../engine/base/defined.ts';
import type { RemovalPreview, RemovalTarget } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { type Static, Type } from '../type.ts';

export const DryRun = Type.Optional(
  Type.Boolean({
    description: 'Whether only to tell what would be removed; the default is the x-dry-run header, else false.',
    default: false,
  }),
);

/** Members of a dry run's answer. Times are Unix seconds, absent when nothing would be removed. */
const MEMBERS = {
  dryRun: Type.Literal(true, { description: 'True for a dry run: nothing was removed.' }),
  count: Type.Integer({ description: 'Number of grains that would be removed.' }),
  byType: Type.Record(Type.String(), Type.Integer(), {
    description: 'Number of grains that would be removed, by grain type.',
  }),
  oldestCreatedAt: Type.Optional(
    Type.Integer({
      description: 'Creation time of the oldest of these grains in Unix seconds; absent where there is none.',
    }),
  ),
  newestCreatedAt: Type.Optional(
    Type.Integer({
      description: 'Creation time of the newest of these grains in Unix seconds; absent where there is none.',
    }),
  ),
  hashes: Type.Optional(Type.Array(Type.String(), { description: 'Hashes of the grains that would be removed.' })),
  notFound: Type.Optional(
    Type.Array(Type.String(), { description: 'Requested hashes that the memory does not hold.' }),
  ),
  userId: Type.Optional(Type.String({ description: 'The user who would be erased.' })),
  scopePath: Type.Optional(Type.String({ description: 'The scope that would be erased.' })),
  scopes: Type.Optional(
    Type.Array(
      Type.Object({
        scopePath: Type.String({ description: 'Path of the scope.' }),
        count: Type.Integer({ description: 'Number of grains in the scope.' }),
      }),
      { description: 'Number of grains in each scope that would be erased.' },
    ),
  ),
  id: Type.Optional(Type.String({ description: 'Id of the memory that would be deleted.' })),
  status: Type.Literal('dry_run', { description: 'Always dry_run.' }),
};
export const Preview = Type.Object(MEMBERS);
export type Preview = Static<typeof Preview>;

/** Optional preview members for the schema of an operation that answers with a removal or its preview. */
export function previewMembers() {
  const { dryRun, byType, oldestCreatedAt, newestCreatedAt, scopes } = MEMBERS;
  return { dryRun: Type.Optional(dryRun), byType: Type.Optional(byType), oldestCreatedAt, newestCreatedAt, scopes };
}

/** True when the body or the header asks for a dry run. */
export function isDryRun(input: { readonly dryRun?: boolean | undefined }, context: Context): boolean {
  return input.dryRun === true || context.dryRun;
}

/** Previews a removal. Also summarises it as a warning, because the gRPC message has no fields for the rest. */
export async function previewOf(context: Context, target: RemovalTarget, reason?: string): Promise<Preview> {
  const preview = await context.call('previewRemoval', target, defined({ reason }));
  context.warnings.push(sentence(preview));
  const { count, byType, oldestMs, newestMs, hashes, notFound, path, scopes } = preview;
  return {
    dryRun: true,
    count,
    byType: { ...byType },
    oldestCreatedAt: oldestMs === undefined ? undefined : Math.floor(oldestMs / 1000),
    newestCreatedAt: newestMs === undefined ? undefined : Math.floor(newestMs / 1000),
    hashes: hashes && [...hashes],
    notFound: notFound && [...notFound],
    scopePath: path,
    scopes: scopes?.map((scope) => ({ scopePath: scope.path, count: scope.count })),
    status: 'dry_run',
  };
}

function sentence({ count, byType, oldestMs, newestMs }: RemovalPreview): string {
  if (count === 0 || oldestMs === undefined || newestMs === undefined)
    return 'dry run: nothing was done; no grain would be removed';
  const types = Object.entries(byType)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([type, grains]) => `${grains} ${type}`);
  const [from, to] = [oldestMs, newestMs].map((ms) => new Date(ms).toISOString());
  return `dry run: nothing was done; would be removed: ${types.join(', ')}, created ${from} to ${to}`;
}
