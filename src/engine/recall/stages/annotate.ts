// Annotates the hits with their source grains and their subjects.
import { defined } from '../../base/defined.ts';
import { SOURCES_MAX } from '../../base/limits.ts';
import { type StageHit, textField } from './hit.ts';
import { fetchGrains, type Recalling } from './questions.ts';
import type { Staged } from './staged.ts';

/**
 * The grains in `derived_from` of these hits and their further sources, each once, with the score of the best hit
 * derived from it.
 */
export function* sourcesOf(hits: readonly StageHit[]): Recalling<Pick<Staged, 'sources' | 'sourcesCut'>> {
  const derived = new Map<string, StageHit>();
  let isCut = false;
  for (const hit of hits) {
    for (const hash of derivedFrom(hit)) {
      if (derived.has(hash)) continue;
      if (derived.size < SOURCES_MAX) derived.set(hash, hit);
      else isCut = true;
    }
  }
  const grains = yield* fetchGrains([...derived.keys()]);
  const sources = grains.flatMap((grain): StageHit[] => {
    const hit = grain === null ? undefined : derived.get(grain.hash);
    if (grain === null || hit === undefined) return [];
    const { score } = hit;
    return [
      {
        grain,
        score,
        breakdown: { base: score, rrf: score, changes: {} },
        judged: false,
        superseded: grain.supersededBy !== undefined || grain.isSuperseded === true,
        recallSource: 'primary',
      },
    ];
  });
  return defined({ sources, sourcesCut: isCut || undefined });
}

function derivedFrom({ grain }: StageHit): readonly string[] {
  const value = Object.hasOwn(grain.fields, 'derived_from') ? grain.fields['derived_from'] : undefined;
  const hashes = [...(Array.isArray(value) ? value : [value]), ...(grain.sources ?? [])];
  return hashes.filter((hash): hash is string => typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash));
}

/** Distinct subjects, in the order of the hits. */
export function subjectsOf(hits: readonly StageHit[]): string[] {
  const subjects = new Set<string>();
  for (const { grain } of hits) {
    const subject = textField(grain, 'subject');
    if (subject !== undefined) subjects.add(subject);
  }
  return [...subjects];
}
