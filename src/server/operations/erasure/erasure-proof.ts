// The signed proof of a person's erasure, and the keys that sign proofs.
import { USER_ID_CHARS_MAX } from '../../../engine/base/limits.ts';
import type { SignedProof, SignedRemoval } from '../../proofs/erasure-proof.ts';
import { issueProof } from '../../proofs/issue.ts';
import { type PublicProofKey, pemOf } from '../../proofs/proof-keys.ts';
import { defineOperation } from '../define.ts';
import { seconds } from '../seconds.ts';
import { described, type Static, Type } from '../type.ts';

/**
 * A signed proof. Its members are open here, so that no client renames them or makes dates of its times: the signature covers
 * them as they are. docs/erasure.md lists them.
 */
export const ProofOutput = Type.Unsafe<SignedProof>({ type: 'object', additionalProperties: true });

/** The same for a scope or a memory. */
export const RemovalProofOutput = Type.Unsafe<SignedRemoval>({ type: 'object', additionalProperties: true });

export const erasureProof = defineOperation({
  name: 'erasure_proof',
  summary: 'Issue the signed proof of the last erasure of a person.',
  description:
    'It is made from the audit trail, however the erasure was asked for, and states how far its follow-up work is. Each call signs anew.',
  example: { user_id: 'ada' },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  slow: true,
  input: Type.Object({
    userId: Type.String({
      minLength: 1,
      maxLength: USER_ID_CHARS_MAX,
      description: 'The person whose erasure is proven.',
    }),
  }),
  output: Type.Object({ proof: described(ProofOutput, 'The proof, a JSON object to be kept as it is.') }),
  errors: ['DSR-E003', 'CRY-E001'],
  http: [{ verb: 'GET', path: 'M/erasure-proof' }],
  run: async ({ userId }, context) => ({ proof: await issueProof(context, userId) }),
});

const ProofKey = Type.Object({
  keyId: Type.String({ description: 'First 16 hexadecimal digits of the SHA-256 of the public key.' }),
  publicKey: Type.String({ description: 'Ed25519 public key, 32 bytes in base64url.' }),
  pem: Type.String({ description: 'The same key as PEM (SubjectPublicKeyInfo).' }),
  createdAt: Type.Integer({ description: 'Time at which the key was made, in Unix seconds.' }),
  retiredAt: Type.Optional(
    Type.Integer({ description: 'Time since which another key signs, in Unix seconds; absent for the current key.' }),
  ),
});

function shownKey({ keyId, publicKey, createdAtMs, retiredAtMs }: PublicProofKey): Static<typeof ProofKey> {
  return {
    keyId,
    publicKey,
    pem: pemOf(publicKey),
    createdAt: seconds(createdAtMs),
    retiredAt: retiredAtMs === undefined ? undefined : seconds(retiredAtMs),
  };
}

export const proofKeys = defineOperation({
  name: 'proof_keys',
  summary: 'List the public keys by which proofs of erasures are verified, the current one first.',
  description: 'Keys that were replaced stay in the list, so that the proofs that they signed can be verified.',
  example: {},
  needs: 'key',
  on: 'deployment',
  reach: 'nothing',
  mutates: false,
  input: Type.Object({}),
  output: Type.Object({ keys: Type.Array(ProofKey, { description: 'The public keys.' }) }),
  errors: ['CRY-E001'],
  http: [{ verb: 'GET', path: '/proof-keys' }],
  run: async (_, { services }) => ({ keys: services.proofKeys.list().map(shownKey) }),
});

export const rotateProofKey = defineOperation({
  name: 'rotate_proof_key',
  summary: 'Make a new key that signs proofs of erasures from now on.',
  description:
    'The secret part of the former key is destroyed. Its public part stays in the list, so its proofs stay valid.',
  example: {},
  needs: 'admin',
  on: 'deployment',
  reach: 'deployment',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({}),
  output: ProofKey,
  errors: ['CRY-E001', 'STO-E001'],
  http: [{ verb: 'POST', path: '/proof-keys/rotate' }],
  run: (_, { services, principal }) =>
    // A rotation of the master key rewrites the same file.
    services.masterKeys.whileStill(async () => {
      const key = await services.proofKeys.rotate();
      await services.control.commit((change) =>
        change.audit({
          event: 'key.rotated',
          actor: principal.actor,
          subject: '',
          details: { scope: 'proof', key_fingerprint: key.keyId },
        }),
      );
      return shownKey(key);
    }),
});
