// The memories that an import writes to. Each is looked up once, and created when it does not exist.
import type { Connection } from '../connection.ts';
import { Failure } from '../failure.ts';

/** Most memories whose state is cached. */
const REMEMBERED_MAX = 100_000;

export class ImportMemories {
  readonly #connection: Connection;
  readonly #mayCreate: boolean;
  readonly #ready = new Map<string, Promise<void>>();
  created = 0;

  constructor(connection: Connection, mayCreate: boolean) {
    this.#connection = connection;
    this.#mayCreate = mayCreate;
  }

  /** Resolves when the memory exists. Rejects with MEM-E003 when it does not and may not be created. */
  ready(id: string): Promise<void> {
    const known = this.#ready.get(id);
    if (known !== undefined) return known;
    const looking = this.#look(id);
    if (this.#ready.size >= REMEMBERED_MAX) this.#ready.delete(this.#ready.keys().next().value!);
    this.#ready.set(id, looking);
    // Failures are not cached: the memory may exist by the next batch.
    looking.catch(() => this.#ready.delete(id));
    return looking;
  }

  async #look(id: string): Promise<void> {
    try {
      await this.#connection.json('GET', `/memories/${encodeURIComponent(id)}`);
      return;
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'MEM-E003') throw error;
      if (!this.#mayCreate) throw new Failure('MEM-E003', `memory ${id} does not exist`);
    }
    try {
      await this.#connection.json('POST', '/memories', { json: { id } });
      this.created += 1;
    } catch (error) {
      // Another client created it in the meantime.
      if (!(error instanceof Failure) || error.code !== 'MEM-E004') throw error;
    }
  }
}
