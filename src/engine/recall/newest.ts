// The structural leg: the newest docs that pass the filters, over all parts.
import type { Doc, IndexPart } from '../index/part.ts';
import type { Store } from '../store/store.ts';
import type { PartFilter } from './filter.ts';

export interface PartDoc {
  readonly part: number;
  readonly doc: Doc;
}

/** At most `limit` docs in the order creation time descending, then address ascending. */
export function newest(
  store: Store,
  parts: readonly IndexPart[],
  filters: readonly PartFilter[],
  limit: number,
): PartDoc[] {
  const found: PartDoc[] = [];
  parts.forEach((part, i) => {
    for (const doc of newestOfPart(part, filters[i]!, limit)) found.push({ part: i, doc });
  });
  const time = ({ part, doc }: PartDoc): number => parts[part]!.createdAtMs[doc]!;
  const address = ({ part, doc }: PartDoc): string => store.addressAt(parts[part]!.ordinals[doc]!) ?? '';
  found.sort((a, b) => time(b) - time(a) || (address(a) < address(b) ? -1 : 1));
  return found.slice(0, limit);
}

/** The newest `limit` docs of a part, and with them all that are as old as the last: a tie is cut by address above. */
function newestOfPart(part: IndexPart, filter: PartFilter, limit: number): Doc[] {
  const count = filter.docs === undefined ? part.docCount : filter.docs.length;
  const docAt = (i: number): Doc => (filter.docs === undefined ? i : filter.docs[i]!);
  const times = part.createdAtMs;
  const docs: Doc[] = [];
  if (part.chronological) {
    for (let i = count - 1; i >= 0; i--) {
      const doc = docAt(i);
      if (docs.length >= limit && times[doc]! < times[docs[docs.length - 1]!]!) break;
      if (filter.test(doc)) docs.push(doc);
    }
    return docs;
  }
  for (let i = 0; i < count; i++) {
    const doc = docAt(i);
    if (filter.test(doc)) docs.push(doc);
  }
  if (docs.length <= limit) return docs;
  docs.sort((a, b) => times[b]! - times[a]!);
  const last = times[docs[limit - 1]!]!;
  let end = limit;
  while (end < docs.length && times[docs[end]!] === last) end += 1;
  return docs.slice(0, end);
}
