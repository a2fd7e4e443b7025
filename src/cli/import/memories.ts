// The memories that an import writes to: looked at once each, made when they are missing.
import type { Connection } from '../connection.ts';
import { Failure } from '../failure.ts';

/** Memories whose state is remembered. */
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

  /** Resolves when the memory is there. MEM-E003 when it is not and may not be made. */
  ready(id: string): Promise<void> {
    const known = this.#ready.get(id);
    if (known !== undefined) return known;
    const looking = this.#look(id);
    if (this.#ready.size >= REMEMBERED_MAX) this.#ready.delete(this.#ready.keys().next().value!);
    this.#ready.set(id, looking);
    // A failure is not remembered: the next batch may find it otherwise.
    looking.catch(() => this.#ready.delete(id));
    return looking;
  }

  async #look(id: string): Promise<void> {
    try {
      await this.#connection.json('GET', `/memories/${encodeURIComponent(id)}`);
      return;
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'MEM-E003') throw error;
      if (!this.#mayCreate) throw new Failure('MEM-E003', `there is no memory ${id}`);
    }
    try {
      await this.#connection.json('POST', '/memories', { json: { id } });
      this.created += 1;
    } catch (error) {
      // Somebody else made it meanwhile.
      if (!(error instanceof Failure) || error.code !== 'MEM-E004') throw error;
    }
  }
}
