// Erases a scope and the scopes below it by destroying their keys.
import { defined } from '../../../engine/base/defined.ts';
import { erasedAlready } from '../../jobs/erasures.ts';
import { issueScopeProof } from '../../proofs/issue-removal.ts';
import { defineOperation } from '../define.ts';
import { DryRun, isDryRun, previewMembers, previewOf } from '../erasure/dry-run.ts';
import { RemovalProofOutput } from '../erasure/erasure-proof.ts';
import { inward, isMembers, nodeOf, outsideSchema } from '../names.ts';
import { described, Type } from '../type.ts';

const Input = Type.Object({
  scopePath: Type.String({ minLength: 1, description: 'Path of the scope to erase, with all below it.' }),
  reason: Type.Optional(
    Type.String({
      description: 'Why the scope is erased; the default is the x-reason header, else data_subject_request.',
    }),
  ),
  dryRun: DryRun,
});

const Proof = Type.Object({
  scopePath: Type.String({ description: 'Path of the erased scope.' }),
  count: Type.Integer({ description: 'Number of grains that were erased.' }),
  keyFingerprint: Type.String({ description: 'First 16 hexadecimal digits of the SHA-256 of the destroyed key.' }),
});

export const scopeErase = defineOperation({
  name: 'scope_erase',
  summary: 'Erase a scope and those below it: their keys are destroyed before the answer, which is the proof.',
  description: 'Without a tree it erases the namespace of that path and those below it.',
  example: { scope_path: 'acme/prod', reason: 'End of the contract.' },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  dryRun: true,
  input: Input,
  output: Type.Object({
    scopePath: Type.String({ description: 'Path of the erased scope.' }),
    scopesErased: Type.Optional(Type.Integer({ description: 'Number of scopes that were erased by this call.' })),
    count: Type.Integer({ description: 'Number of grains that were erased; for a dry run, that would be.' }),
    keyFingerprints: Type.Optional(Type.Array(Type.String(), { description: 'Fingerprints of the destroyed keys.' })),
    proofs: Type.Optional(Type.Array(Proof, { description: 'Proof of erasure for each scope.' })),
    timestamp: Type.Optional(Type.Integer({ description: 'Time of the erasure in Unix seconds.' })),
    signedProof: Type.Optional(
      described(RemovalProofOutput, 'The signed proof, a JSON object to be kept as it is; absent for a dry run.'),
    ),
    ...previewMembers(),
    status: Type.Enum(['erased', 'dry_run'], { description: 'Whether the scope was erased or this was a dry run.' }),
  }),
  errors: ['AUT-E001', 'SCP-E001', 'POL-E003', 'CRY-E001'],
  http: [
    {
      verb: 'POST',
      path: 'M/scope-erase',
      bodySchema: outsideSchema(Input),
      otherNames: ['scope'],
      read: ({ json }) => withAlias(json),
    },
  ],
  async run({ scopePath, reason, dryRun = false }, context) {
    if (isDryRun({ dryRun }, context)) {
      const preview = await previewOf(context, { of: 'scope', path: scopePath }, reason);
      return { ...preview, scopePath: preview.scopePath ?? scopePath };
    }
    const by = { actor: context.principal.actor, reason: reason ?? context.reason };
    const extras = defined({ reason });
    const { erasures } = context.services;
    const erased = await erasures.scope(context.memory, scopePath, by, () =>
      context.call('eraseScope', { path: scopePath }, extras),
    );
    const { path, timestamp, proofs } = erased;
    const signedProof = await issueScopeProof(context, erased).catch((error: unknown) => {
      throw proofs.some(({ keyFingerprint }) => keyFingerprint !== '') ? erasedAlready(error) : error;
    });
    return {
      scopePath: path,
      scopesErased: proofs.filter(({ isRepeat }) => !isRepeat).length,
      count: proofs.reduce((sum, { count }) => sum + count, 0),
      keyFingerprints: proofs.flatMap(({ keyFingerprint }) => (keyFingerprint === '' ? [] : [keyFingerprint])),
      proofs: proofs.map(({ path: of, count, keyFingerprint }) => ({ scopePath: of, count, keyFingerprint })),
      timestamp,
      signedProof,
      status: 'erased' as const,
    };
  },
});

/** Accepts `scope` as an alias of `scope_path`. */
function withAlias(json: unknown): unknown {
  if (!isMembers(json)) return json;
  const { scope, ...rest } = json;
  return inward(nodeOf(Input), scope === undefined || 'scope_path' in rest ? json : { ...rest, scope_path: scope });
}
