// A client's configuration as a file: read whole, kept as a copy, written in one step. A link is left alone.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../../failure.ts';

const BYTES_MAX = 64 * 1_048_576;
/** Of a file that holds keys. */
const OWNER_ONLY = 0o600;
/** Bits that let others than the owner in. */
const OTHERS = 0o077;

export class ConfigFile {
  readonly path: string;
  /** The copy of the file from before the install. It is empty if there was no file. */
  readonly copy: string;

  constructor(path: string) {
    this.path = path;
    this.copy = `${path}.before-granary`;
  }

  /** The text; undefined without a file. Throws Failure for a link, and for what is no text. */
  read(): string | undefined {
    const found = lstatSync(this.path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (found.isSymbolicLink())
      throw this.#refusal('is a symbolic link and was not changed: name its target with --file');
    if (!found.isFile()) throw this.#refusal('is not a regular file: name a configuration file with --file');
    if (found.size > BYTES_MAX) throw this.#refusal('is too large for a configuration file and was not changed');
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(this.path));
    } catch (error) {
      throw this.#refusal(
        error instanceof TypeError ? 'is not UTF-8 and was not changed' : `cannot be read: ${String(error)}`,
      );
    }
  }

  /** True when other users of the machine may read the file. */
  get isOpenToOthers(): boolean {
    return process.platform !== 'win32' && (statSync(this.path).mode & OTHERS) !== 0;
  }

  /** Keeps a copy of the text, in place of an earlier one. */
  keep(text: string | undefined): void {
    this.#put(this.copy, text ?? '', OWNER_ONLY);
  }

  /** The text of the copy; undefined without one. */
  kept(): string | undefined {
    return existsSync(this.copy) ? readFileSync(this.copy, 'utf8') : undefined;
  }

  dropCopy(): void {
    rmSync(this.copy, { force: true });
  }

  /** Replaces the file in one step. Its mode stays. */
  write(text: string): void {
    this.#put(this.path, text, statSync(this.path, { throwIfNoEntry: false })?.mode ?? OWNER_ONLY);
  }

  #put(path: string, text: string, mode: number): void {
    const next = `${path}.${process.pid}.tmp`;
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(next, text, { mode: OWNER_ONLY, flag: 'wx', flush: true });
      chmodSync(next, mode & 0o7777);
      renameSync(next, path);
    } catch (error) {
      rmSync(next, { force: true });
      throw this.#refusal(`cannot be written: ${String(error)}`);
    }
  }

  remove(): void {
    rmSync(this.path);
  }

  #refusal(what: string): Failure {
    return new Failure('FILE', `${this.path} ${what}`);
  }
}
