// What only app/exec asks of a memory: checks and upkeep.
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';

export const verifyAuditChain = defineOperation({
  name: 'verify_audit_chain',
  summary: 'Recompute the audit chain of a memory.',
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  slow: true,
  input: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1 })) }),
  output: Type.Object({
    valid: Type.Boolean(),
    checked: Type.Integer(),
    firstBadSeq: Type.Optional(Type.Integer()),
    partition: Type.Integer(),
  }),
  exec: { command: 'verify_audit_chain' },
  run: ({ limit }, context) => context.call('verifyAudit', limit === undefined ? {} : { limit }),
});

export const rebuildIndexes = defineOperation({
  name: 'rebuild_indexes',
  summary: 'Make every index of a memory again from its grains.',
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  input: Type.Object({}),
  output: Type.Object({
    grainsScanned: Type.Integer(),
    ftsIndexed: Type.Integer(),
    vectorsIndexed: Type.Integer(),
    errors: Type.Integer(),
    elapsedMs: Type.Number(),
  }),
  exec: { command: 'rebuild_indexes' },
  run: (_, context) => context.call('rebuildIndexes', {}),
});

export const compact = defineOperation({
  name: 'compact',
  summary: 'Give back the space of what is gone.',
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  input: Type.Object({}),
  output: Type.Object({ reclaimedBytes: Type.Integer() }),
  exec: { command: 'compact' },
  run: (_, context) => context.call('compact', {}),
});

export const rotateKeys = defineOperation({
  name: 'rotate_keys',
  summary: 'Begin a new version of the key of a memory, or wrap every key of the deployment under a new master key.',
  needs: 'admin',
  on: 'memory',
  reach: ({ scope }) => (scope === 'kek' ? 'deployment' : 'memory'),
  mutates: true,
  onUnknown: 'refuse',
  slow: true,
  input: Type.Object({ scope: Type.Enum(['memory', 'kek']) }),
  output: Type.Object({ rotated: Type.Integer(), fingerprint: Type.String() }),
  errors: ['VAL-E001', 'STO-E002'],
  exec: { command: 'rotate_keys' },
  async run({ scope }, context) {
    if (scope === 'memory') return context.call('rotateKeys', { scope });
    return context.services.masterKeys.rotate(context.principal.actor);
  },
});
