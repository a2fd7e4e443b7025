// Signed envelopes: COSE_Sign1 (RFC 9052) around a blob with the signed flag, made with the Ed25519 key of a did:key. The
// content address excludes the envelope. A signature proves who signed, not that the signer was allowed to.
import { type KeyObject, sign, verify } from 'node:crypto';
import { encode } from 'cborg';
import { BLOB_BYTES_MAX, ENVELOPE_OVERHEAD_MAX } from '../../base/limits.ts';
import { didOfKey, keyOfDid } from '../did.ts';
import { refuse } from '../error.ts';
import { decodeMap, endOfItem, readHead } from './cbor.ts';
import { FLAG, peek } from './header.ts';

const CONTENT_TYPE = 'application/vnd.mg+msgpack';
const EDDSA = -8;
const ED25519 = -19;
const ES256 = -7;
const LABEL = { algorithm: 1, critical: 2, contentType: 3, keyId: 4 } as const;
const EMPTY = new Uint8Array(0);

/** True when the bytes start like an envelope, tagged or not; a blob starts with its version. */
export function startsEnvelope(bytes: Uint8Array): boolean {
  return bytes[0] === 0x84 || bytes[0] === 0xd2;
}

/** End of the envelope at `start`, or -1 if no envelope ends by `end`. */
export function endOfEnvelope(bytes: Uint8Array, start: number, end: number): number {
  return endOfItem(bytes, start, end);
}

export interface Envelope {
  /** The blob with its signed flag set; a view of the envelope's bytes. Its payload is not decoded yet. */
  readonly blob: Buffer;
  /** DID of the signer. */
  readonly did: string;
  /** Unix seconds, claimed by the signer; the signature does not cover them. */
  readonly issuedAt?: number | undefined;
}

interface Parts {
  readonly protectedBytes: Buffer;
  readonly unprotected: ReadonlyMap<unknown, unknown>;
  readonly payload: Buffer;
  readonly signature: Buffer;
}

export interface SignOptions {
  /** Ed25519 private key. */
  readonly key: KeyObject;
  /** Unix seconds for the envelope. */
  readonly issuedAt: number;
  /** Default: the did:key of `key`. */
  readonly did?: string | undefined;
}

/** Signs a blob. Throws ERR_SIGNED_MISMATCH if its signed flag is not set; setting it here would change the address. */
export function signBlob(blob: Uint8Array, options: SignOptions): Buffer {
  if ((peek(blob).flags & FLAG.signed) === 0) refuse('ERR_SIGNED_MISMATCH', "the blob's signed flag is not set");
  const did = options.did ?? didOfKey(options.key);
  const header = new Map<number, unknown>([
    [LABEL.algorithm, EDDSA],
    [LABEL.contentType, CONTENT_TYPE],
    [LABEL.keyId, Buffer.from(did)],
  ]);
  const protectedBytes = encode(header);
  const signature = sign(null, toBeSigned(protectedBytes, blob), options.key);
  return Buffer.from(encode([protectedBytes, { iat: options.issuedAt }, blob, signature]));
}

function toBeSigned(protectedBytes: Uint8Array, payload: Uint8Array): Uint8Array {
  return encode(['Signature1', protectedBytes, EMPTY, payload]);
}

/** Reads an envelope without checking its signature. Throws ERR_CORRUPT, ERR_UNSUPPORTED, ERR_TOO_LARGE. */
export function readEnvelope(bytes: Uint8Array): Envelope & { readonly verify: (did: string) => boolean } {
  const { protectedBytes, unprotected, payload, signature } = splitEnvelope(bytes);
  const header = decodeMap(protectedBytes);
  const algorithm = header.get(LABEL.algorithm);
  if (header.has(LABEL.critical)) refuse('ERR_UNSUPPORTED', 'critical header parameters are not known');
  if (algorithm === ES256) refuse('ERR_UNSUPPORTED', 'ES256 signatures are not verified');
  if (algorithm !== EDDSA && algorithm !== ED25519) refuse('ERR_UNSUPPORTED', 'signature algorithm is not known');
  if (header.get(LABEL.contentType) !== CONTENT_TYPE) refuse('ERR_UNSUPPORTED', 'content type is not that of a grain');
  const issuedAt = unprotected.get('iat');
  return {
    blob: payload,
    did: textOfKeyId(header.get(LABEL.keyId)),
    issuedAt: typeof issuedAt === 'number' ? issuedAt : undefined,
    verify: (did) => {
      const key = keyOfDid(did);
      return signature.length === 64 && verify(null, toBeSigned(protectedBytes, payload), key, signature);
    },
  };
}

/**
 * Opens an envelope and verifies its signature with the signer's did:key. If `did` is given, it must be the signer. Throws
 * ERR_INTEGRITY for a bad signature or another signer, and the errors of `readEnvelope` and `keyOfDid`. The caller must
 * still decode the blob strictly (`enveloped: true`).
 */
export function openEnvelope(bytes: Uint8Array, did?: string): Envelope {
  const { verify: isValidFor, ...envelope } = readEnvelope(bytes);
  if (did !== undefined && did !== envelope.did) refuse('ERR_INTEGRITY', 'the signer is not the expected one');
  if (!isValidFor(envelope.did)) refuse('ERR_INTEGRITY', 'signature does not match');
  return envelope;
}

function splitEnvelope(bytes: Uint8Array): Parts {
  if (bytes.length > BLOB_BYTES_MAX + ENVELOPE_OVERHEAD_MAX) refuse('ERR_TOO_LARGE');
  const end = bytes.length;
  if (endOfItem(bytes, 0, end) !== end) refuse('ERR_CORRUPT', 'envelope is not one CBOR item');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = buffer[0] === 0xd2 ? 1 : 0;
  if (buffer[at++] !== 0x84) refuse('ERR_CORRUPT', 'envelope is not an array of four');
  const byteString = (): Buffer => {
    const head = readHead(buffer, at, end);
    if (head === undefined || head.major !== 2) refuse('ERR_CORRUPT', 'envelope lacks a byte string');
    at = head.next + head.argument;
    return buffer.subarray(head.next, at);
  };
  const protectedBytes = byteString();
  const unprotectedEnd = endOfItem(buffer, at, end);
  if (unprotectedEnd === -1) refuse('ERR_CORRUPT', 'envelope is truncated');
  const unprotected = decodeMap(buffer.subarray(at, unprotectedEnd));
  at = unprotectedEnd;
  return { protectedBytes, unprotected, payload: byteString(), signature: byteString() };
}

function textOfKeyId(keyId: unknown): string {
  if (typeof keyId === 'string') return keyId;
  if (keyId instanceof Uint8Array) return Buffer.from(keyId).toString('utf8');
  return refuse('ERR_CORRUPT', 'envelope names no signer');
}
