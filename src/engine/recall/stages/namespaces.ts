// Backfills namespaces with few hits: queries each of them separately.
import type { RecallQuery } from '../../calls/recall.ts';
import { capped, lowestScore } from './added.ts';
import { byNamespace } from './cut.ts';
import type { StageHit } from './hit.ts';
import { followUp, type Recalling, search } from './questions.ts';

const BACKFILL_QUERIES_MAX = 10;

/** The hits followed by additional hits from namespaces with too few of them. */
export function* backfillNamespaces(
  hits: readonly StageHit[],
  query: RecallQuery,
  minimum: number,
): Recalling<StageHit[]> {
  const thin = [...byNamespace(hits)]
    // A filter cannot name the empty namespace, so it is not queried again.
    .filter(([namespace, found]) => namespace !== '' && found.length < minimum)
    .slice(0, BACKFILL_QUERIES_MAX);
  const answers = yield* search(thin.map(([namespace]) => followUp(query, { limit: minimum, filter: { namespace } })));
  const known = new Set(hits.map(({ grain }) => grain.hash));
  const cap = lowestScore(hits);
  const added: StageHit[] = [];
  answers.forEach((found, at) => {
    const wanted = minimum - thin[at]![1].length;
    const fresh = found.filter(({ grain }) => !known.has(grain.hash)).slice(0, wanted);
    added.push(...fresh.map((hit) => capped(hit, cap, 'primary')));
  });
  return [...hits, ...added];
}
