// Reads pages of about the same bytes, whatever the sizes of the rows.
import { DATABASE_PAGE_BYTES, DATABASE_PAGE_FIRST, DATABASE_PAGE_RECORDS } from '../../base/limits.ts';
import type { Database } from './database.ts';

export class PageReader {
  readonly #database: Database;
  #limit = DATABASE_PAGE_FIRST;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The rows that `ask` finds with that limit; `bytesOf` tells how large one is. */
  async page<R>(
    ask: (database: Database, limit: number) => Promise<readonly R[]>,
    bytesOf: (row: R) => number,
  ): Promise<readonly R[]> {
    const rows = await ask(this.#database, this.#limit);
    const bytes = rows.reduce((sum, row) => sum + bytesOf(row), 0);
    if (rows.length > 0) {
      const fitting = Math.floor((DATABASE_PAGE_BYTES / Math.max(1, bytes)) * rows.length);
      this.#limit = Math.max(1, Math.min(fitting, this.#limit * 4, DATABASE_PAGE_RECORDS));
    }
    return rows;
  }
}
