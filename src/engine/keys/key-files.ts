// The small files of a deployment's keys: the check of the master key, the control key, the proof keys. They are in a folder,
// or in the store that holds the logs.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeFolder, replaceFile, storageError } from '../base/durable-file.ts';
import { bucketFileName } from './bucket-files.ts';

export interface KeyFiles {
  /** Where the file is, for messages. */
  pathOf(name: string): string;
  /** The file as it is durable; undefined when there is none. Throws the file system's error. */
  read(name: string): Buffer | undefined;
  /** Replaces the file, or makes it. It is durable after `flush`. Throws the file system's error. */
  replace(name: string, bytes: Uint8Array): void;
  /** Resolves when all replaced files are durable, together. Rejects with STO-E001; they are then tried again with the next one. */
  flush(): Promise<void>;
  /** True when keys are stored beside the files: they need the master key that wrapped them. */
  holdsKeys(): boolean;
}

/** The file; undefined when there is none. Throws STO-E001 with its path when it cannot be read. */
export function readKeyFile(files: KeyFiles, name: string): Buffer | undefined {
  try {
    return files.read(name);
  } catch (error) {
    throw storageError(`${files.pathOf(name)} cannot be read`, error);
  }
}

/** Files in a folder, which is made with the first one. */
export class KeyFolder implements KeyFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  pathOf(name: string): string {
    return join(this.#directory, name);
  }

  read(name: string): Buffer | undefined {
    const path = this.pathOf(name);
    return existsSync(path) ? readFileSync(path) : undefined;
  }

  replace(name: string, bytes: Uint8Array): void {
    makeFolder(this.#directory);
    replaceFile(this.pathOf(name), bytes);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  holdsKeys(): boolean {
    if (!existsSync(this.#directory)) return false;
    return readdirSync(this.#directory, { recursive: true }).some(
      (path) => basename(String(path)) === bucketFileName(0),
    );
  }
}

/** The folder of keys of a data directory. */
export function keyFolderOf(dataDirectory: string): KeyFolder {
  return new KeyFolder(join(dataDirectory, 'keys'));
}
