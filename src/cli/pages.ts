// Reads a paged list to its end.

import { defined } from '../engine/base/defined.ts';
import { PAGE_LIMIT_MAX } from '../engine/base/limits.ts';
import { type JsonObject, objectsOf } from '../engine/grain/api/json-value.ts';
import type { Connection } from './connection.ts';
import { Failure } from './failure.ts';
import type { Asked } from './http-caller.ts';

/** Yields each item of the list `member` at `path`, page by page. */
export async function* itemsOf(
  connection: Connection,
  path: string,
  member: string,
  query: NonNullable<Asked['query']> = {},
): AsyncGenerator<JsonObject> {
  let cursor: string | undefined;
  do {
    const page = await connection.json('GET', path, {
      query: { limit: PAGE_LIMIT_MAX, ...query, ...defined({ cursor }) },
    });
    const items = page[member];
    if (!Array.isArray(items)) throw new Failure('SYS-E001', `the server's page has no list ${member}`);
    yield* objectsOf(items);
    const next = page['next_cursor'];
    if (next === cursor && cursor !== undefined)
      throw new Failure('SYS-E001', 'the server returned the same page again');
    cursor = typeof next === 'string' ? next : undefined;
  } while (cursor !== undefined);
}

export async function allPages(connection: Connection, path: string, member: string): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  for await (const item of itemsOf(connection, path, member)) items.push(item);
  return items;
}
