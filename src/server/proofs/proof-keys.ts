// The Ed25519 keys that sign proofs of erasures, in the key file `proof.key`: the current key, its seed wrapped by the
// master key, and the public keys of those that it replaced, so that their proofs stay verifiable.
import {
  createPrivateKey,
  createPublicKey,
  hash,
  type KeyObject,
  randomBytes,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto';
import type { Clock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { type KeyFiles, readKeyFile } from '../../engine/keys/key-files.ts';
import type { MasterKey } from '../../engine/keys/master-key.ts';

export const PROOF_KEY_FILE = 'proof.key';
const NAME = 'proof';
/** DER of PKCS #8 before the 32 bytes of an Ed25519 seed (RFC 8410, section 7). */
const PRIVATE_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
/** DER of SubjectPublicKeyInfo before the 32 bytes of an Ed25519 public key (RFC 8410, section 4). */
const PUBLIC_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const RAW_BYTES = 32;

export interface PublicProofKey {
  /** First 16 hexadecimal digits of the SHA-256 of the 32 bytes of the public key. */
  readonly keyId: string;
  /** The 32 bytes in base64url without padding: the member `x` of a JWK. */
  readonly publicKey: string;
  readonly createdAtMs: number;
  /** Absent for the current key. */
  readonly retiredAtMs?: number;
}

interface StoredKey extends PublicProofKey {
  /** Id of the master key that wraps the seed. Absent with `wrapped` for a key that was replaced. */
  readonly master?: string;
  /** The wrapped seed in base64. */
  readonly wrapped?: string;
}

export interface Signature {
  readonly keyId: string;
  readonly publicKey: string;
  /** Base64url, 64 bytes. */
  readonly signature: string;
}

export interface ProofKeysParts {
  readonly files: KeyFiles;
  /** The master key in force. */
  readonly master: () => MasterKey;
  readonly clock: Clock;
}

/** The file is read for each signature, so a restored or rewrapped file needs no restart. */
export class ProofKeys {
  readonly #files: KeyFiles;
  readonly #master: () => MasterKey;
  readonly #clock: Clock;

  constructor({ files, master, clock }: ProofKeysParts) {
    this.#files = files;
    this.#master = master;
    this.#clock = clock;
  }

  /**
   * Makes the first key, or wraps the current one again after a change of the master key. The caller flushes the files.
   * Throws CRY-E001, AUT-E003, STO-E001.
   */
  open(): void {
    if (readKeyFile(this.#files, PROOF_KEY_FILE) === undefined) {
      this.#write([this.#make()]);
      return;
    }
    this.rewrap();
    this.#check();
  }

  /** A damaged key must not be noticed first by the one who verifies a proof. Throws CRY-E001. */
  #check(): void {
    const [current] = readKeys(this.#files);
    const seed = seedOf(this.#files, current!, this.#master());
    const publicKey = rawOf(seed).toString('base64url');
    seed.fill(0);
    if (publicKey !== current!.publicKey) throw damaged(this.#files);
  }

  /** Wraps the current key under the current master key, unless it is. */
  rewrap(): void {
    rewrapProofKeys(this.#files, this.#master(), this.#master());
  }

  /** The public keys, the current one first. */
  list(): readonly PublicProofKey[] {
    return readKeys(this.#files).map(shown);
  }

  /** Signs with the current key. */
  sign(bytes: Uint8Array): Signature {
    const [current] = readKeys(this.#files);
    const seed = seedOf(this.#files, current!, this.#master()); // readKeys checks that there is one
    try {
      const signature = signBytes(null, bytes, privateKeyOf(seed)).toString('base64url');
      return { keyId: current!.keyId, publicKey: current!.publicKey, signature };
    } finally {
      seed.fill(0);
    }
  }

  /** Replaces the current key. Its seed is dropped from the file, its public key stays. Resolves to the new one. */
  async rotate(): Promise<PublicProofKey> {
    const [current, ...older] = readKeys(this.#files);
    const next = this.#make();
    const retired: StoredKey = { ...shown(current!), retiredAtMs: this.#clock.nowMs() };
    this.#write([next, retired, ...older]);
    await this.#files.flush();
    return shown(next);
  }

  #make(): StoredKey {
    const seed = randomBytes(RAW_BYTES);
    const master = this.#master();
    const raw = rawOf(seed);
    const stored: StoredKey = {
      keyId: keyIdOf(raw),
      publicKey: raw.toString('base64url'),
      createdAtMs: this.#clock.nowMs(),
      master: master.id,
      wrapped: master.wrap(seed, NAME).toString('base64'),
    };
    seed.fill(0);
    return stored;
  }

  #write(keys: readonly StoredKey[]): void {
    writeKeys(this.#files, keys);
  }
}

/** Wraps the current key under `to`, unless it is; `from` opens it. Does nothing without the file. */
export function rewrapProofKeys(files: KeyFiles, from: MasterKey, to: MasterKey): void {
  if (files.read(PROOF_KEY_FILE) === undefined) return;
  const [current, ...older] = readKeys(files);
  if (current!.master === to.id) return;
  const seed = seedOf(files, current!, from);
  writeKeys(files, [{ ...current!, master: to.id, wrapped: to.wrap(seed, NAME).toString('base64') }, ...older]);
  seed.fill(0);
}

/**
 * Puts the proof keys of one deployment in the place of another's, for a restored backup: the keys of today know every
 * public key that the backup knows. False if `from` has none.
 */
export function carryProofKeys(
  from: { readonly files: KeyFiles; readonly master: MasterKey },
  to: { readonly files: KeyFiles; readonly master: MasterKey },
): boolean {
  if (readKeyFile(from.files, PROOF_KEY_FILE) === undefined) return false;
  const [current, ...older] = readKeys(from.files);
  const seed = seedOf(from.files, current!, from.master);
  const wrapped = to.master.wrap(seed, NAME).toString('base64');
  seed.fill(0);
  writeKeys(to.files, [{ ...current!, master: to.master.id, wrapped }, ...older]);
  return true;
}

/** True if `signature` (base64url) is that of the bytes under the public key (base64url of 32 bytes). */
export function isSignedBy(publicKey: string, bytes: Uint8Array, signature: string): boolean {
  const raw = Buffer.from(publicKey, 'base64url');
  const bytesOfSignature = Buffer.from(signature, 'base64url');
  // The last character has bits that decoding ignores: only one way to write a signature is accepted.
  if (raw.length !== RAW_BYTES || bytesOfSignature.toString('base64url') !== signature) return false;
  try {
    return verifyBytes(null, bytes, publicKeyOf(raw), bytesOfSignature);
  } catch {
    return false;
  }
}

/** The id of a public key of 32 bytes. */
export function keyIdOf(raw: Uint8Array): string {
  return hash('sha256', raw, 'hex').slice(0, 16);
}

/** The public key (base64url of 32 bytes) as PEM. */
export function pemOf(publicKey: string): string {
  return String(publicKeyOf(Buffer.from(publicKey, 'base64url')).export({ format: 'pem', type: 'spki' }));
}

/** The 32 bytes of a public key that is given as PEM, as base64url, or in hex; undefined for anything else. */
export function rawPublicKey(text: string): Buffer | undefined {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  if (/^[A-Za-z0-9_+/-]{43}=?$/.test(trimmed)) return Buffer.from(trimmed, 'base64url');
  if (!trimmed.startsWith('-----BEGIN')) return undefined;
  try {
    const key = createPublicKey(trimmed);
    if (key.asymmetricKeyType !== 'ed25519') return undefined;
    return key.export({ format: 'der', type: 'spki' }).subarray(PUBLIC_HEAD.length);
  } catch {
    return undefined;
  }
}

function shown({ keyId, publicKey, createdAtMs, retiredAtMs }: StoredKey): PublicProofKey {
  const key = { keyId, publicKey, createdAtMs };
  return retiredAtMs === undefined ? key : { ...key, retiredAtMs };
}

/** The 32 bytes of the public key of a seed. */
function rawOf(seed: Uint8Array): Buffer {
  return createPublicKey(privateKeyOf(seed)).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_HEAD.length);
}

function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PRIVATE_HEAD, seed]), format: 'der', type: 'pkcs8' });
}

function publicKeyOf(raw: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([PUBLIC_HEAD, raw]), format: 'der', type: 'spki' });
}

function seedOf(files: KeyFiles, { master: id = '', wrapped = '' }: StoredKey, master: MasterKey): Buffer {
  try {
    return master.unwrap(id, Buffer.from(wrapped, 'base64'), NAME);
  } catch (error) {
    // A damaged file looks like one wrapped by another master key.
    if (error instanceof EngineError)
      throw new EngineError(error.code, `cannot open ${files.pathOf(PROOF_KEY_FILE)}: ${error.message}`);
    throw error;
  }
}

function writeKeys(files: KeyFiles, keys: readonly StoredKey[]): void {
  files.replace(PROOF_KEY_FILE, Buffer.from(`${JSON.stringify({ keys })}\n`));
}

/** At least one key, the current one first. Throws CRY-E001. */
function readKeys(files: KeyFiles): readonly StoredKey[] {
  try {
    const { keys } = JSON.parse(String(readKeyFile(files, PROOF_KEY_FILE))) as { keys?: unknown }; // checked below
    if (Array.isArray(keys) && keys.every(isStoredKey) && keys[0] !== undefined && isWhole(keys[0])) return keys;
  } catch {
    // Not JSON, or not there: the error below covers it.
  }
  throw damaged(files);
}

function damaged(files: KeyFiles): EngineError {
  return new EngineError('CRY-E001', `${files.pathOf(PROOF_KEY_FILE)} is damaged or missing: restore it from a backup`);
}

function isStoredKey(value: unknown): value is StoredKey {
  const { keyId, publicKey, createdAtMs } = (value ?? {}) as Partial<StoredKey>; // each is checked here
  if (typeof keyId !== 'string' || typeof publicKey !== 'string' || typeof createdAtMs !== 'number') return false;
  const raw = Buffer.from(publicKey, 'base64url');
  return raw.length === RAW_BYTES && keyIdOf(raw) === keyId;
}

function isWhole({ master, wrapped }: StoredKey): boolean {
  return typeof master === 'string' && typeof wrapped === 'string';
}
