// Lets a local caller identify a server before it sends a key. A server creates a secret at start and stores it in
// server.json, which only its own user can read. It answers a challenge with a MAC under that secret. Another process
// that took the port, or has it in another network namespace, cannot.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export const CHALLENGE_HEADER = 'x-granary-challenge';
export const PROOF_HEADER = 'x-granary-proof';

const HEX_32_BYTES = /^[0-9a-f]{64}$/;
/** Separates these codes from other uses of the secret. */
const PURPOSE = 'granary server proof\0';

/** 32 random bytes in hex, for a secret or a challenge. */
export function randomHex(): string {
  return randomBytes(32).toString('hex');
}

/** The answer to a challenge; undefined for one that is not 64 hex digits. */
export function proofOf(secret: string, challenge: string): string | undefined {
  if (!HEX_32_BYTES.test(challenge)) return undefined;
  return createHmac('sha256', Buffer.from(secret, 'hex'))
    .update(PURPOSE + challenge)
    .digest('hex');
}

export function isProof(secret: string, challenge: string, answer: string | undefined): boolean {
  const expected = proofOf(secret, challenge);
  if (expected === undefined || answer === undefined || answer.length !== expected.length) return false;
  return timingSafeEqual(Buffer.from(answer), Buffer.from(expected));
}
