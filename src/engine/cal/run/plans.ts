// Checked queries by their exact text: agents ask the same ones again and again. The session is no part of it: its
// namespace and user are applied when the query runs.
import { CAL_PLANS_MAX } from '../../base/limits.ts';
import { type CheckedQuery, readQuery } from '../query.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';

const plans = new Map<string, CheckedQuery>();

/** As `readQuery`, which is asked once for each text of late. Throws CalError. */
export function planOf(source: string, isStrict: boolean): CheckedQuery {
  // It is refused, and as a key of the map all of it would be read.
  if (source.length > CAL_LIMITS.queryBytesMax) return readQuery(source, isStrict);
  const name = `${isStrict ? 'strict' : ''}\n${source}`;
  const known = plans.get(name);
  if (known !== undefined) {
    // Last used, last to go.
    plans.delete(name);
    plans.set(name, known);
    return known;
  }
  const checked = readQuery(source, isStrict);
  if (plans.size >= CAL_PLANS_MAX) {
    const [oldest] = plans.keys();
    if (oldest !== undefined) plans.delete(oldest);
  }
  plans.set(name, checked);
  return checked;
}
