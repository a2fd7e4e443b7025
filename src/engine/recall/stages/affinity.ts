// Boosts hits that share the dominant namespace or subject of the best hits.
import { changed, compareHits, exact, type StageHit, textField } from './hit.ts';

/** Number of top hits that decide the dominant key. */
const AFFINITY_HITS = 10;

/** Hits from the namespace that holds most of the top ten gain `boost` of their score. */
export function favourSession(hits: readonly StageHit[], boost: number): StageHit[] {
  return favour(hits, boost, 'sessionAffinity', ({ grain }) => grain.namespace || undefined);
}

/** Hits about the most frequent subject of the top ten gain `boost` of their score. */
export function favourSubject(hits: readonly StageHit[], boost: number): StageHit[] {
  return favour(hits, boost, 'subjectAffinity', ({ grain }) => {
    const subject = textField(grain, 'subject');
    return subject === undefined ? undefined : exact(subject);
  });
}

function favour(
  hits: readonly StageHit[],
  boost: number,
  stage: 'sessionAffinity' | 'subjectAffinity',
  keyOf: (hit: StageHit) => string | undefined,
): StageHit[] {
  if (boost === 0) return [...hits];
  const dominant = dominantKey(hits.slice(0, AFFINITY_HITS).map(keyOf));
  if (dominant === undefined) return [...hits];
  return (
    hits
      // A boost must not lower a negative score.
      .map((hit) => changed(hit, stage, keyOf(hit) === dominant ? boost * Math.max(0, hit.score) : 0))
      .sort(compareHits)
  );
}

/** The most frequent key; the first one in a tie. */
function dominantKey(keys: readonly (string | undefined)[]): string | undefined {
  const counts = new Map<string, number>();
  for (const key of keys) if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  let dominant: string | undefined;
  let most = 0;
  for (const [key, count] of counts) {
    if (count <= most) continue;
    dominant = key;
    most = count;
  }
  return dominant;
}
