// The signed proof of a person's erasure, and the keys that sign proofs.
import { USER_ID_CHARS_MAX } from '../../../engine/base/limits.ts';
import { PROOF_FORMAT, PROOF_VERSION, type SignedProof } from '../../proofs/erasure-proof.ts';
import { issueProof } from '../../proofs/issue.ts';
import { type PublicProofKey, pemOf } from '../../proofs/proof-keys.ts';
import { defineOperation } from '../define.ts';
import { COUNT, FLAG, HASH, listOf, objectOf, oneOf, TEXT, TIME } from '../json-schema.ts';
import type { Members } from '../names.ts';
import { seconds } from '../seconds.ts';
import { described, type Static, Type } from '../type.ts';

const Fingerprint = described(TEXT, 'First 16 hexadecimal digits of the SHA-256 of a destroyed key; empty for none.');
const IsoTime = (description: string): Members => described({ type: 'string', format: 'date-time' }, description);

/** Schema of a signed proof, whose members keep their names everywhere: they are signed with them. */
export const SIGNED_PROOF: Members = objectOf(
  {
    format: described(oneOf(PROOF_FORMAT), 'Always granary-erasure-proof.'),
    version: described({ const: PROOF_VERSION }, 'Version of the format.'),
    result: described(
      oneOf('erased', 'nothing_held'),
      'Whether a key was destroyed (erased), or the memory knew no such person (nothing_held).',
    ),
    memory: described(TEXT, 'Id of the memory.'),
    user_commitment: described(HASH, 'SHA-256 of the salt, a line feed and the id of the person.'),
    count: described(COUNT, 'Number of grains that were erased, all versions.'),
    key_fingerprint: Fingerprint,
    timestamp: described(TIME, 'Time of the erasure in Unix seconds.'),
    erased_at: IsoTime('The same time as ISO 8601 in UTC.'),
    audit_entries: described(
      listOf(
        objectOf({
          partition: described(COUNT, 'Partition of the audit chain.'),
          seq: described(COUNT, 'Number of the entry in its chain.'),
          count: described(COUNT, 'Number of grains that were erased there.'),
          key_fingerprint: Fingerprint,
          hash: described(HASH, 'Hash of the entry.'),
        }),
      ),
      'The entries user.erased of the audit trail, one for each partition that erased something.',
    ),
    purge: described(
      objectOf({
        state: described(oneOf('pending', 'complete'), 'Whether indexes and logs are rewritten without the person.'),
        partitions_pending: described(COUNT, 'Number of partitions that are not rewritten yet.'),
        redactions_pending: described(FLAG, 'Whether grains of others that name the person are still to be redacted.'),
        as_of: IsoTime('Time of this state as ISO 8601 in UTC.'),
      }),
      'State of the work that follows an erasure.',
    ),
    issued_at: IsoTime('Time at which the proof was signed, as ISO 8601 in UTC.'),
    issuer: described(TEXT, 'Program and version that signed.'),
    key_id: described(TEXT, 'First 16 hexadecimal digits of the SHA-256 of the public key.'),
    public_key: described(TEXT, 'Ed25519 public key, 32 bytes in base64url.'),
    signature: described(TEXT, 'Ed25519 signature, 64 bytes in base64url.'),
  },
  {
    audit_entry_hash: described(HASH, 'Hash of the first of the audit entries.'),
    user_id: described(TEXT, 'The person; absent, with salt, from a proof that no longer names the person.'),
    salt: described(TEXT, 'Random text that user_commitment was made with.'),
  },
);

export const ProofOutput = Type.Unsafe<SignedProof>({ ...SIGNED_PROOF });

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
  output: Type.Object({ proof: described(ProofOutput, 'The proof.') }),
  errors: ['DSR-E003', 'CRY-E001'],
  http: [
    {
      verb: 'GET',
      path: 'M/erasure-proof',
      answer: objectOf({ proof: described(SIGNED_PROOF, 'The proof.') }),
      write: ({ proof }) => ({ proof }),
    },
  ],
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
      const key = services.proofKeys.rotate();
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
