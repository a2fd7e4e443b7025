// Caches checked queries by their exact text, because agents repeat the same ones. Independent of the session: its
// namespace and user apply when the query runs.
import { CAL_PLANS_CHARS_MAX, CAL_PLANS_MAX } from '../../base/limits.ts';
import { type CheckedQuery, readQuery } from '../query.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';

const plans = new Map<string, CheckedQuery>();
/** The length of all names together. */
let chars = 0;

/** Like `readQuery`, but returns a cached result if the same text was read recently. Throws CalError. */
export function planOf(source: string, isStrict: boolean): CheckedQuery {
  // `readQuery` refuses such a query. As a map key, its whole text would be hashed first.
  if (source.length > CAL_LIMITS.queryBytesMax) return readQuery(source, isStrict);
  const name = `${isStrict ? 'strict' : ''}\n${source}`;
  const known = plans.get(name);
  if (known !== undefined) {
    // Move to the end: least recently used entries are evicted first.
    plans.delete(name);
    plans.set(name, known);
    return known;
  }
  const checked = readQuery(source, isStrict);
  plans.set(name, checked);
  chars += name.length;
  for (const oldest of plans.keys()) {
    if (plans.size <= CAL_PLANS_MAX && chars <= CAL_PLANS_CHARS_MAX) break;
    plans.delete(oldest);
    chars -= oldest.length;
  }
  return checked;
}
