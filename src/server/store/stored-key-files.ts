// The key files of a deployment in its store. They are read when the control log is taken, and written by its owner alone.
import { EngineError } from '../../engine/base/errors.ts';
import type { KeyFiles } from '../../engine/keys/key-files.ts';
import type { Owned } from '../../engine/log/postgres/append-statement.ts';
import { type Database, databaseError } from '../../engine/log/postgres/database.ts';
import { readKeyFiles, writeKeyFiles } from '../../engine/log/postgres/key-files.ts';
import { takenAway } from '../../engine/log/postgres/lease.ts';

export class StoredKeyFiles implements KeyFiles {
  readonly #database: Database;
  readonly #owned: Owned;
  readonly #files: Map<string, Buffer>;
  /** Replaced files that are not durable yet. */
  readonly #waiting = new Map<string, Buffer>();

  /** `owned`: the shard of the control log, which the caller has taken. Rejects with STO-E001. */
  static async open(database: Database, owned: Owned): Promise<StoredKeyFiles> {
    try {
      const rows = await readKeyFiles(database, owned.shard);
      return new StoredKeyFiles(database, owned, new Map(rows.map(([name, bytes]) => [name, Buffer.from(bytes)])));
    } catch (error) {
      throw databaseError('the key files of the store cannot be read', error);
    }
  }

  private constructor(database: Database, owned: Owned, files: Map<string, Buffer>) {
    this.#database = database;
    this.#owned = owned;
    this.#files = files;
  }

  pathOf(name: string): string {
    return `${name} in the store`;
  }

  read(name: string): Buffer | undefined {
    return this.#files.get(name);
  }

  replace(name: string, bytes: Uint8Array): void {
    this.#waiting.set(name, Buffer.from(bytes));
  }

  async flush(): Promise<void> {
    const files = [...this.#waiting];
    if (files.length === 0) return;
    let isOwner: boolean;
    try {
      isOwner = await writeKeyFiles(this.#database, this.#owned, files);
    } catch (error) {
      throw databaseError('the key files of the store cannot be written', error);
    }
    if (!isOwner) throw new EngineError('STO-E002', takenAway(this.#owned.shard));
    for (const [name, bytes] of files) {
      this.#files.set(name, bytes);
      if (this.#waiting.get(name) === bytes) this.#waiting.delete(name);
    }
  }

  /** The keys are beside the files, in the same database. */
  holdsKeys(): boolean {
    return true;
  }
}
