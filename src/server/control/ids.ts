// Ids that the deployment gives out: a prefix and 24 base32 characters (120 random bits).
import { randomBytes } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** `prefix` without its underscore: `key`, `mem`, `req`. */
export function randomId(prefix: string): string {
  const bytes = randomBytes(15);
  let id = `${prefix}_`;
  for (let at = 0; at < 15; at += 5) {
    let block = bytes.readUIntBE(at, 5);
    let part = '';
    for (let digit = 0; digit < 8; digit += 1) {
      part = ALPHABET.charAt(block % 32) + part;
      block = Math.floor(block / 32);
    }
    id += part;
  }
  return id;
}
