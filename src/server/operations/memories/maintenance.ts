// Checks and maintenance of a memory, available through app/exec only.
import { defined } from '../../../engine/base/defined.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';

export const verifyAuditChain = defineOperation({
  name: 'verify_audit_chain',
  summary: 'Recompute the audit chain of a memory.',
  description: 'The first entry that does not follow from the one before is named.',
  example: { limit: 1000 },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: false,
  slow: true,
  input: Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Number of entries to check at most; the default is all.' }),
    ),
  }),
  output: Type.Object({
    valid: Type.Boolean({ description: 'Whether every entry that was checked follows from the one before.' }),
    checked: Type.Integer({ description: 'Number of entries that were checked.' }),
    firstBadSeq: Type.Optional(
      Type.Integer({ description: 'Number of the first entry that does not follow; absent for a valid chain.' }),
    ),
    partition: Type.Integer({ description: 'Partition that firstBadSeq is in, from 0.' }),
  }),
  exec: { command: 'verify_audit_chain' },
  run: ({ limit }, context) => context.call('verifyAudit', defined({ limit })),
});

export const rebuildIndexes = defineOperation({
  name: 'rebuild_indexes',
  summary: 'Rebuild every index of a memory from its grains.',
  description: 'Reads are answered from the old indexes meanwhile; vectors are made anew after the answer.',
  example: {},
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  input: Type.Object({}),
  output: Type.Object({
    grainsScanned: Type.Integer({ description: 'Number of grains that were read.' }),
    ftsIndexed: Type.Integer({ description: 'Number of grains in the new text index.' }),
    vectorsIndexed: Type.Integer({
      description: 'Number of vectors at the time of the answer; they are made anew after it.',
    }),
    errors: Type.Integer({ description: 'Number of grains that could not be indexed.' }),
    elapsedMs: Type.Number({ description: 'Time that the rebuild took, in milliseconds.' }),
  }),
  exec: { command: 'rebuild_indexes' },
  run: (_, context) => context.call('rebuildIndexes', {}),
});

export const compact = defineOperation({
  name: 'compact',
  summary: 'Free the disk space of removed grains.',
  description: 'It rewrites index segments without the entries of removed grains.',
  example: {},
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  input: Type.Object({}),
  output: Type.Object({ reclaimedBytes: Type.Integer({ description: 'Disk space that was freed, in bytes.' }) }),
  exec: { command: 'compact' },
  run: (_, context) => context.call('compact', {}),
});

export const rotateKeys = defineOperation({
  name: 'rotate_keys',
  summary: 'Begin a new version of the key of a memory, or wrap every key of the deployment under a new master key.',
  description: 'Grains that are there stay readable.',
  example: { scope: 'memory' },
  needs: 'admin',
  on: 'memory',
  reach: ({ scope }) => (scope === 'kek' ? 'deployment' : 'memory'),
  mutates: true,
  onUnknown: 'refuse',
  slow: true,
  input: Type.Object({
    scope: Type.Enum(['memory', 'kek'], {
      description: "Which key to rotate: the memory's own, or kek for the master key of the deployment.",
    }),
  }),
  output: Type.Object({
    rotated: Type.Integer({ description: 'Number of keys that were made or wrapped again.' }),
    fingerprint: Type.String({ description: 'Fingerprint of the new key.' }),
  }),
  errors: ['VAL-E001', 'STO-E002'],
  exec: { command: 'rotate_keys' },
  async run({ scope }, context) {
    if (scope === 'memory') return context.call('rotateKeys', { scope });
    return context.services.masterKeys.rotate(context.principal.actor);
  },
});
