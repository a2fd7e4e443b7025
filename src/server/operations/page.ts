// Paging of lists: the request members and the opaque cursor (service contract, Pagination).

import { EngineError } from '../../engine/base/errors.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, PAGE_OFFSET_MAX } from '../../engine/base/limits.ts';
import { AnswerRoom } from '../../engine/grain/api/answer-room.ts';
import { Type } from './type.ts';

/** Paging members of a list's input schema. */
export const PAGE_INPUT = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Number of items on a page; the default is 50, and above 500 is treated as 500.',
      default: PAGE_LIMIT_DEFAULT,
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'Cursor of the page to show, from the next_cursor of the page before.',
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: PAGE_OFFSET_MAX,
      description: 'Number of items to skip; the default is 0.',
      default: 0,
    }),
  ),
  order: Type.Optional(
    Type.Enum(['asc', 'desc'], {
      description: 'Order by time: desc is newest first, asc oldest first; the default is desc.',
      default: 'desc',
    }),
  ),
};

/** Paging members of a list that has an order of its own, such as goals by priority. */
export const ORDERED_PAGE_INPUT = { limit: PAGE_INPUT.limit, cursor: PAGE_INPUT.cursor, offset: PAGE_INPUT.offset };

/** Paging members of a list's output schema. */
export const PAGE_OUTPUT = {
  total: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Number of items on all pages; null where it is not counted.',
  }),
  nextCursor: Type.Union([Type.String(), Type.Null()], {
    description: 'Cursor of the next page; null on the last one.',
  }),
};

/** The end of a page: the time and the id or hash of its last item. */
export interface Place {
  readonly timeMs: number;
  readonly id: string;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
  readonly order: 'asc' | 'desc';
  readonly after: Place | undefined;
}

export interface PageInput {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly offset?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
}

/**
 * Reads the paging members. Throws VAL-E004 for a cursor that this server did not make for `scope`, the list. Appends a
 * warning to `warnings` when the page differs from the request. `read` decodes sealed cursors; the default decodes plain ones.
 */
export function readPage(input: PageInput, scope: string, warnings: string[], read: CursorReader = readCursor): Page {
  const { limit = PAGE_LIMIT_DEFAULT, offset = 0, order = 'desc', cursor } = input;
  if (limit > PAGE_LIMIT_MAX) warnings.push(`limit ${limit} is treated as ${PAGE_LIMIT_MAX}`);
  const place = cursor === undefined ? undefined : read(cursor, scope);
  const madeFor = place?.order;
  if (madeFor !== undefined && madeFor !== order)
    warnings.push(`the cursor was made for order ${madeFor}: the page goes back from its place in order ${order}`);
  return {
    limit: Math.min(limit, PAGE_LIMIT_MAX),
    offset,
    order,
    after: place === undefined ? undefined : { timeMs: place.timeMs, id: place.id },
  };
}

/** A place with the order of its page; cursors of earlier builds have no order. */
export type CursorPlace = Place & { readonly order: 'asc' | 'desc' | undefined };
export type CursorReader = (cursor: string, scope: string) => CursorPlace;

/** Makes a cursor; `order` is the order of the page that ends at `place`. */
export function writeCursor(place: Place, scope: string, order: 'asc' | 'desc'): string {
  return Buffer.from(jsonOfPlace(place, scope, order), 'utf8').toString('base64url');
}

function readCursor(cursor: string, scope: string): CursorPlace {
  return placeOfJson(Buffer.from(cursor, 'base64url').toString('utf8'), scope);
}

/** The JSON text of a cursor. */
export function jsonOfPlace(place: Place, scope: string, order: 'asc' | 'desc'): string {
  return JSON.stringify([scope, place.timeMs, place.id, order]);
}

/** Parses the JSON text of a cursor. Throws VAL-E004. */
export function placeOfJson(text: string, scope: string): CursorPlace {
  let parts: unknown;
  try {
    parts = JSON.parse(text);
  } catch {
    throw badCursor();
  }
  if (!Array.isArray(parts) || (parts.length !== 3 && parts.length !== 4)) throw badCursor();
  const [madeFor, timeMs, id, order]: unknown[] = parts;
  if (madeFor !== scope || typeof timeMs !== 'number' || !Number.isSafeInteger(timeMs) || typeof id !== 'string')
    throw badCursor();
  if (order !== undefined && order !== 'asc' && order !== 'desc') throw badCursor();
  return { timeMs, id, order };
}

export function badCursor(): EngineError {
  return new EngineError('VAL-E004', 'bad cursor', {
    details: [{ field: 'cursor', issue: 'not a cursor of this list' }],
  });
}

/**
 * A page of `items`, which are sorted by time, then id, ascending. With `partOf`, which converts an item for the answer,
 * the page ends when the answer is full; lists of small items need none.
 */
export function pageOf<T>(
  items: readonly T[],
  page: Page,
  placeOf: (item: T) => Place,
  scope: string,
  partOf?: (item: T) => unknown,
): { readonly items: readonly T[]; readonly total: number; readonly nextCursor: string | null } {
  const start = page.after === undefined ? 0 : firstBeyond(items, page.after, placeOf, page.order);
  const chosen: T[] = [];
  const room = new AnswerRoom();
  const from = start + page.offset;
  for (let at = from; at < items.length && chosen.length < page.limit; at += 1) {
    const item = items[page.order === 'asc' ? at : items.length - 1 - at];
    if (item === undefined) continue;
    if (partOf !== undefined && !room.takes(partOf(item))) break;
    chosen.push(item);
  }
  const last = chosen.at(-1);
  const more = from + chosen.length < items.length;
  return {
    items: chosen,
    total: items.length,
    nextCursor: more && last !== undefined ? writeCursor(placeOf(last), scope, page.order) : null,
  };
}

/** Number of items at or before the place, in the page's order. */
function firstBeyond<T>(items: readonly T[], after: Place, placeOf: (item: T) => Place, order: 'asc' | 'desc'): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[order === 'asc' ? middle : items.length - 1 - middle];
    const compared = item === undefined ? 1 : comparePlaces(placeOf(item), after);
    if (order === 'asc' ? compared <= 0 : compared >= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Orders places ascending by time, then id. */
export function comparePlaces(one: Place, other: Place): number {
  return one.timeMs - other.timeMs || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}
