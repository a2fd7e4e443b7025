// Reads rows with large values. The library asks for values as text, in which a byte is two characters: writing and reading these takes
// most of the time of a large page, on both ends. A binary cursor gives the bytes as they are. A database without such cursors is
// asked for text.
import { type Database, failureOf, type Sql } from './database.ts';

/** A value: bytes, or text or a number where the database gave text. Null is SQL's. */
export type Cell = Buffer | string | number | null;

/** Those that have refused a binary cursor. */
const withoutCursors = new WeakSet<object>();

/**
 * The rows of a SELECT of columns of bytes and whole numbers, in one round trip. The statement has no parameters: the caller writes its
 * numbers and `literalOf` its bytes. Rejects with the library's error.
 */
export async function readRows(database: Pick<Database, 'ask'>, select: string): Promise<readonly (readonly Cell[])[]> {
  if (withoutCursors.has(database)) return database.ask((sql) => asText(sql, select));
  try {
    return await database.ask((sql) => asBinary(sql, select));
  } catch (error) {
    if (failureOf(error) !== 'refused') throw error;
    const rows = await database.ask((sql) => asText(sql, select));
    // The statement was not at fault.
    withoutCursors.add(database);
    return rows;
  }
}

/** Both statements are one transaction, which an error ends. */
async function asBinary(sql: Sql, select: string): Promise<readonly (readonly Cell[])[]> {
  const cursor = `DECLARE granary_rows NO SCROLL BINARY CURSOR FOR ${select}; FETCH ALL FROM granary_rows`;
  const [, rows] = await sql.unsafe(cursor).simple().raw();
  return rows as unknown as readonly (readonly Cell[])[]; // the library's types know one result
}

async function asText(sql: Sql, select: string): Promise<readonly (readonly Cell[])[]> {
  return sql.unsafe(select).values();
}

export function literalOf(bytes: Buffer): string {
  return `decode('${bytes.toString('hex')}', 'hex')`;
}

/** A whole number of 4 or 8 bytes. */
export function numberOf(cell: Cell | undefined): number {
  if (!Buffer.isBuffer(cell)) return Number(cell);
  return cell.length === 8 ? Number(cell.readBigInt64BE()) : cell.readInt32BE();
}

/** Throws where the column has no bytes. */
export function bytesOf(cell: Cell | undefined): Buffer {
  if (!Buffer.isBuffer(cell)) throw new TypeError(`a column of bytes has ${typeof cell}`);
  return cell;
}
