// How long grains are kept: told, and enforced.
import type { JsonObject } from '../../../shards/protocol.ts';
import { defineOperation } from '../define.ts';
import { isDryRun } from '../erasure/dry-run.ts';
import { seconds } from '../seconds.ts';
import { Type } from '../type.ts';

const Input = { namespace: Type.Optional(Type.String({ minLength: 1 })) };

export const retentionStatus = defineOperation({
  name: 'retention_status',
  summary: 'By namespace: how long grains are kept, and what has expired.',
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  input: Type.Object(Input),
  output: Type.Object({
    namespaces: Type.Array(
      Type.Object({
        namespace: Type.String(),
        ttlDays: Type.Union([Type.Integer(), Type.Null()]),
        source: Type.Union([Type.String(), Type.Null()]),
        grains: Type.Integer(),
        expired: Type.Integer(),
        nextExpiryAt: Type.Union([Type.Integer(), Type.Null()]),
        oldestCreatedAt: Type.Union([Type.Integer(), Type.Null()]),
        held: Type.Integer(),
      }),
    ),
    defaultTtlDays: Type.Union([Type.Integer(), Type.Null()]),
    lastEnforcedAt: Type.Union([Type.Integer(), Type.Null()]),
  }),
  http: [{ verb: 'GET', path: 'M/retention/status' }],
  async run({ namespace }, context) {
    const status = await context.call('retentionStatus', namespace === undefined ? {} : { namespace });
    const { namespaces, defaultTtlDays, lastEnforcedMs } = status;
    return {
      namespaces: namespaces.map(({ source, nextExpiryMs, oldestCreatedMs, ...row }) => ({
        ...row,
        source: source === '' ? null : source,
        nextExpiryAt: nextExpiryMs === undefined ? null : seconds(nextExpiryMs),
        oldestCreatedAt: oldestCreatedMs === undefined ? null : seconds(oldestCreatedMs),
      })),
      defaultTtlDays,
      lastEnforcedAt: lastEnforcedMs === undefined ? null : seconds(lastEnforcedMs),
    };
  },
});

export const retentionEnforce = defineOperation({
  name: 'enforce_retention',
  summary: 'Remove the grains whose time is over.',
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  dryRun: true,
  slow: true,
  input: Type.Object({ ...Input, dryRun: Type.Optional(Type.Boolean()) }),
  output: Type.Object({
    expired: Type.Integer(),
    forgotten: Type.Integer(),
    held: Type.Integer(),
    dryRun: Type.Boolean(),
    byNamespace: Type.Unsafe<JsonObject>({ type: 'object' }),
  }),
  http: [{ verb: 'POST', path: 'M/retention/enforce' }],
  async run({ namespace, dryRun: isAsked = false }, context) {
    const dryRun = isDryRun({ dryRun: isAsked }, context);
    const asked = { dryRun, ...(namespace === undefined ? {} : { namespace }) };
    // Grains that expire between a request and its repeat are not the repeat's to count.
    return context.once(async () => ({ ...(await context.call('enforceRetention', asked)), dryRun }));
  },
});
