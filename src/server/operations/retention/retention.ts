// Retention: show the times to live, and enforce them.
import { defined } from '../../../engine/base/defined.ts';
import { RETENTION_NAMESPACES_SHOWN_MAX } from '../../../engine/base/limits.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import { defineOperation } from '../define.ts';
import { isDryRun } from '../erasure/dry-run.ts';
import { ORDERED_PAGE_INPUT, PAGE_OUTPUT, pageOf, readPage } from '../page.ts';
import { seconds } from '../seconds.ts';
import { Type } from '../type.ts';

const Input = {
  namespace: Type.Optional(Type.String({ minLength: 1, description: 'Only this namespace; the default is all.' })),
};

const SCOPE = 'retention';

export const retentionStatus = defineOperation({
  name: 'retention_status',
  summary: 'Show how long grains are kept and how many have expired, by namespace.',
  description: 'Times to live come from the policy and from the expires_at of grains.',
  example: { namespace: 'home' },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  paged: true,
  input: Type.Object({ ...Input, ...ORDERED_PAGE_INPUT }),
  output: Type.Object({
    namespaces: Type.Array(
      Type.Object({
        namespace: Type.String({ description: 'Name of the namespace.' }),
        ttlDays: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Days that grains of the namespace are kept; null for ever.',
        }),
        source: Type.Union([Type.String(), Type.Null()], {
          description: 'Rule that this comes from: namespace, type or default; null where no rule ends a grain.',
        }),
        grains: Type.Integer({ description: 'Number of grains.' }),
        expired: Type.Integer({ description: 'Number of grains that have expired.' }),
        nextExpiryAt: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Time at which the next grain expires, in Unix seconds; null where none does.',
        }),
        oldestCreatedAt: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Creation time of the oldest grain in Unix seconds; null where there is none.',
        }),
        held: Type.Integer({ description: 'Number of expired grains that a legal hold or a restriction keeps.' }),
      }),
      { description: 'Retention of each namespace, by name.' },
    ),
    ...PAGE_OUTPUT,
    defaultTtlDays: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Days that grains are kept by default; null for ever.',
    }),
    lastEnforcedAt: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Time of the last enforcement in all namespaces in Unix seconds; null before the first.',
    }),
  }),
  errors: ['VAL-E004'],
  http: [{ verb: 'GET', path: 'M/retention/status' }],
  async run({ namespace, ...asked }, context) {
    const page = readPage({ ...asked, order: 'asc' }, SCOPE, context.warnings);
    const status = await context.call('retentionStatus', defined({ namespace }));
    const { namespaces, defaultTtlDays, lastEnforcedMs } = status;
    // The names have no time, and come sorted.
    const placeOf = ({ namespace: id }: { readonly namespace: string }) => ({ timeMs: 0, id });
    const { items, total, nextCursor } = pageOf(namespaces, page, placeOf, SCOPE, (row) => row);
    return {
      namespaces: items.map(({ source, nextExpiryMs, oldestCreatedMs, ...row }) => ({
        ...row,
        source: source === '' ? null : source,
        nextExpiryAt: nextExpiryMs === undefined ? null : seconds(nextExpiryMs),
        oldestCreatedAt: oldestCreatedMs === undefined ? null : seconds(oldestCreatedMs),
      })),
      total,
      nextCursor,
      defaultTtlDays,
      lastEnforcedAt: lastEnforcedMs === undefined ? null : seconds(lastEnforcedMs),
    };
  },
});

export const retentionEnforce = defineOperation({
  name: 'enforce_retention',
  summary: 'Remove the grains that have expired.',
  description:
    'Expired grains are hidden at once; this removes them. Grains that a legal hold or a restriction keeps are counted as held.',
  example: { dry_run: true },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  dryRun: true,
  slow: true,
  input: Type.Object({
    ...Input,
    dryRun: Type.Optional(
      Type.Boolean({ description: 'Whether to count only and remove nothing; the default is false.', default: false }),
    ),
  }),
  output: Type.Object({
    expired: Type.Integer({ description: 'Number of grains that have expired.' }),
    forgotten: Type.Integer({ description: 'Number of grains that were removed; for a dry run, that would be.' }),
    held: Type.Integer({ description: 'Number of expired grains that a legal hold or a restriction keeps.' }),
    goals: Type.Integer({
      description:
        'Number of goals that failed or were suspended by their expiry_policy; for a dry run, that would be.',
    }),
    dryRun: Type.Boolean({ description: 'Whether it was a dry run.' }),
    byNamespace: Type.Unsafe<JsonObject>({
      type: 'object',
      description:
        'The three numbers for each namespace with expired grains, the most first; at most 1,000 namespaces are shown.',
    }),
    namespacesTotal: Type.Integer({ description: 'Number of namespaces with expired grains, beyond those shown.' }),
  }),
  http: [{ verb: 'POST', path: 'M/retention/enforce' }],
  async run({ namespace, dryRun: isAsked = false }, context) {
    const dryRun = isDryRun({ dryRun: isAsked }, context);
    const asked = { dryRun, namespace };
    // A retry returns the first counts, without grains that have expired since.
    return context.once(async () => {
      const { byNamespace, ...counts } = await context.call('enforceRetention', asked);
      const rows = Object.entries(byNamespace).sort(([, one], [, other]) => other.expired - one.expired);
      const shown = rows.slice(0, RETENTION_NAMESPACES_SHOWN_MAX);
      return { ...counts, byNamespace: Object.fromEntries(shown), namespacesTotal: rows.length, dryRun };
    });
  },
});
