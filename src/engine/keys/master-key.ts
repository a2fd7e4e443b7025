// The master key: loads it, and checks that it is the right one. It wraps every other key.
// `<data-dir>/keys/master.key` holds it in hex, unless the operator gives one. The key file `master.check` lists the
// ids of the master keys that wrap the stored keys. A start with other keys is refused, and the message names the ids.
// During a rotation the check file lists two ids, and both keys must be given.
import { hash, type KeyObject, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { assert } from '../base/assert.ts';
import { isFileError } from '../base/durable-file.ts';
import { EngineError } from '../base/errors.ts';
import { KEY_BYTES, open, seal, sealKey } from '../crypto/envelope.ts';
import type { KeyFiles } from './key-files.ts';

const MASTER_FILE = 'master.key';
const CHECK_FILE = 'master.check';
/**
 * A key's id must not help to guess the key: it is 8 bytes of a hash of its 32 random bytes, with a prefix of its own.
 */
const ID_PREFIX = 'granary master key id\0';
/** The current key and those it replaces. More of them than nested rotations need indicate a mistake in the file. */
const MASTER_KEYS_MAX = 8;
/** 32 random bytes have some 30 distinct values, and practically never fewer than 16. */
const DIFFERENT_BYTES_MIN = 16;

interface Version {
  readonly id: string;
  readonly raw: Buffer;
  readonly key: KeyObject;
}

/** One or more master keys. New keys are wrapped under the first; keys wrapped under any of them can be unwrapped. */
export class MasterKey {
  readonly #versions: readonly Version[];

  private constructor(versions: readonly Version[]) {
    this.#versions = versions;
  }

  /** From raw keys of 32 bytes, the current one first. */
  static of(...keys: readonly Uint8Array[]): MasterKey {
    assert(keys.length > 0, 'there is a master key');
    return new MasterKey(keys.map(toVersion));
  }

  /** A new random key, which also accepts the keys of `previous`. */
  static random(previous?: MasterKey): MasterKey {
    return new MasterKey([toVersion(randomBytes(KEY_BYTES)), ...(previous === undefined ? [] : previous.#versions)]);
  }

  /** The same current key, which also accepts the keys of `other`. */
  accepting(other: MasterKey): MasterKey {
    const added = other.#versions.filter((version) => !this.accepts(version.id));
    return new MasterKey([...this.#versions, ...added]);
  }

  /** The current key alone, for when every key is wrapped under it. */
  alone(): MasterKey {
    return new MasterKey([this.#current]);
  }

  /** 16 hex digits that name the current key and reveal nothing about it. */
  get id(): string {
    return this.#current.id;
  }

  /** True when the current key shows a pattern that no random source produces: few different bytes, or a series. */
  get isGuessable(): boolean {
    const { raw } = this.#current;
    const step = (raw[1]! - raw[0]!) & 0xff;
    const isSeries = raw.every((byte, at) => at === 0 || ((byte - raw[at - 1]!) & 0xff) === step);
    return isSeries || new Set(raw).size < DIFFERENT_BYTES_MIN;
  }

  /** Ids of all accepted keys, the current one first. */
  get ids(): readonly string[] {
    return this.#versions.map((version) => version.id);
  }

  accepts(id: string): boolean {
    return this.#versions.some((version) => version.id === id);
  }

  /** Wraps `key` (32 bytes) under the current master key, bound to `name`. Returns 60 bytes. */
  wrap(key: Uint8Array, name: string): Buffer {
    assert(key.length === KEY_BYTES, 'a key has 32 bytes');
    return seal(this.#current.key, key, Buffer.from(name));
  }

  /**
   * Unwraps the key that the master key `id` wrapped for `name`. AUT-E003 when that master key is not given, CRY-E001
   * when it does not open.
   */
  unwrap(id: string, wrapped: Uint8Array, name: string): Buffer {
    const version = this.#versions.find((candidate) => candidate.id === id);
    if (version === undefined) throw wrongMasterKey(this.ids, [id]);
    return open(version.key, wrapped, Buffer.from(name));
  }

  /** Copies of the keys, 32 bytes each, the current one first. The caller owns them. */
  get raw(): readonly Uint8Array[] {
    return this.#versions.map((version) => new Uint8Array(version.raw));
  }

  /** The hex lines of a key file. */
  toText(): string {
    return `${this.#versions.map((version) => version.raw.toString('hex')).join('\n')}\n`;
  }

  get #current(): Version {
    return this.#versions[0]!;
  }
}

function toVersion(raw: Uint8Array): Version {
  assert(raw.length === KEY_BYTES, 'a master key has 32 bytes');
  const bytes = Buffer.from(raw);
  const id = hash('sha256', Buffer.concat([Buffer.from(ID_PREFIX), bytes]), 'hex').slice(0, 16);
  return { id, raw: bytes, key: sealKey(bytes) };
}

export interface MasterKeyOptions {
  readonly files: KeyFiles;
  /** Value of the environment variable: 64 hex digits, or several keys separated by commas, the current one first. */
  readonly value?: string | undefined;
  /** A file with the same, a key a line. It is read, never written. */
  readonly file?: string | undefined;
  /** Called with a text for the operator: a key was created, or others can read its file. */
  readonly warn?: ((text: string) => void) | undefined;
}

export interface LoadedMasterKey {
  readonly key: MasterKey;
  readonly source: 'env' | 'file' | 'created';
  /** True when a rotation has begun and not finished, or may have: every key store still has to be rewrapped. */
  readonly rotating: boolean;
  /** The check is lost: the caller opens a stored key, and then calls `noteMasterKey`. */
  readonly isUnchecked?: true;
}

/**
 * Loads the master key of a deployment: from the given value, else from the given file, else from the key file
 * `master.key`, which is created in a new deployment. AUT-E003 for a key that is malformed, missing, or not the one
 * that wraps the stored keys.
 */
export function loadMasterKey(options: MasterKeyOptions): LoadedMasterKey {
  const { files } = options;
  const found = findMasterKey(options);
  if (found.key.isGuessable)
    options.warn?.(
      'the master key is a pattern and can be guessed: create a random one (openssl rand -hex 32), then rotate',
    );
  const expected = readCheck(files);
  if (expected === undefined) {
    // A wrong key that is noted would refuse the right one, and a key that is dropped may still wrap others.
    if (files.holdsKeys()) return { ...found, rotating: found.key.ids.length > 1, isUnchecked: true };
    writeCheck(files, [found.key.id]);
    return { ...found, rotating: false };
  }
  if (!expected.every((id) => found.key.accepts(id))) throw wrongMasterKey(found.key.ids, expected);
  return { ...found, rotating: expected.length > 1 || expected[0] !== found.key.id };
}

function findMasterKey({ files, ...options }: MasterKeyOptions): Pick<LoadedMasterKey, 'key' | 'source'> {
  if (options.value !== undefined) return { key: parse(options.value.split(','), 'the value given'), source: 'env' };
  const path = options.file ?? files.pathOf(MASTER_FILE);
  if (existsSync(path)) {
    warnOfMode(path, options.warn);
    return { key: parse(readText(path).trim().split('\n'), path), source: 'file' };
  }
  if (options.file !== undefined) throw new EngineError('AUT-E003', `the master key file ${path} does not exist`);
  if (readCheck(files) !== undefined || files.holdsKeys())
    throw new EngineError(
      'AUT-E003',
      `no master key: ${path} is missing, and neither GRANARY_MASTER_KEY nor --master-key-file is set. Restore the file: no data can be read without it`,
    );
  const key = MasterKey.random();
  files.replace(MASTER_FILE, Buffer.from(key.toText()));
  options.warn?.(
    `a master key was created in ${path}. Anyone with this key and the data can read everything: move the key elsewhere`,
  );
  return { key, source: 'created' };
}

/**
 * First step of a rotation: from now on a start needs every key of `next`, old and new. `ownFile`: the key lives in
 * `keys/master.key`; otherwise the operator holds it. Next, rewrap every key store, then call `finishRotation`.
 */
export function beginRotation(files: KeyFiles, next: MasterKey, ownFile: boolean): void {
  // The key file comes first: a check file that names a key which exists nowhere would lock everyone out.
  if (ownFile) files.replace(MASTER_FILE, Buffer.from(next.toText()));
  writeCheck(files, next.ids);
}

/** Makes a lost check again. A stored key opens under `key`. */
export function noteMasterKey(files: KeyFiles, key: MasterKey): void {
  writeCheck(files, key.ids);
}

/** Last step of a rotation: forgets the older master keys, which wrap no stored key any more. */
export function finishRotation(files: KeyFiles, next: MasterKey, ownFile: boolean): void {
  writeCheck(files, [next.id]);
  if (ownFile) files.replace(MASTER_FILE, Buffer.from(next.alone().toText()));
}

/** An AUT-E003 that names the given and the needed keys by id. */
export function wrongMasterKey(given: readonly string[], needed: readonly string[]): EngineError {
  return new EngineError(
    'AUT-E003',
    `wrong master key: the stored keys are wrapped under ${needed.join(' and ')}, but ${given.join(' and ')} was given`,
  );
}

function parse(lines: readonly string[], where: string): MasterKey {
  const texts = lines.map((line) => line.trim()).filter((line) => line !== '');
  if (texts.length === 0 || texts.length > MASTER_KEYS_MAX)
    throw new EngineError('AUT-E003', `${where} holds ${texts.length} master keys, not 1 to ${MASTER_KEYS_MAX}`);
  for (const text of texts)
    if (!/^[0-9a-f]{64}$/i.test(text))
      throw new EngineError(
        'AUT-E003',
        `${where} is not a master key: 64 hex digits (32 bytes) are needed, ${text.length} characters were found`,
      );
  return MasterKey.of(...texts.map((text) => Buffer.from(text, 'hex')));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): EngineError {
  const reason = isFileError(error) ? error.code : String(error);
  return new EngineError('AUT-E003', `${path} cannot be read: ${reason}`);
}

function readCheck(files: KeyFiles): readonly string[] | undefined {
  const ids = textOf(files, CHECK_FILE)?.trim().split('\n');
  if (ids?.every((id) => /^[0-9a-f]{16}$/.test(id)) === false)
    throw new EngineError('AUT-E003', `${files.pathOf(CHECK_FILE)} does not hold ids of master keys`);
  return ids;
}

function textOf(files: KeyFiles, name: string): string | undefined {
  try {
    return files.read(name)?.toString('utf8');
  } catch (error) {
    throw unreadable(files.pathOf(name), error);
  }
}

function writeCheck(files: KeyFiles, ids: readonly string[]): void {
  files.replace(CHECK_FILE, Buffer.from(`${ids.join('\n')}\n`));
}

function warnOfMode(path: string, warn: MasterKeyOptions['warn']): void {
  if (process.platform === 'win32') return;
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) !== 0)
    warn?.(`${path} has mode ${mode.toString(8)}: others on this machine may read the master key (chmod 600)`);
}
