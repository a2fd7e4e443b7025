// Iterative expansion over entities: queries the entities of the hits, round after round, until a round finds nothing
// new.
import { defined } from '../../base/defined.ts';
import type { ExhaustiveMetadata, ExhaustiveRound, RecallOptions, RecallQuery } from '../../calls/recall.ts';
import { capped, lowestScore, strengthOf } from './added.ts';
import { entitiesOfHits } from './entities.ts';
import { compareHits, type StageHit } from './hit.ts';
import { aboutEntity, followUp, type Recalling, search } from './questions.ts';

const ROUNDS = 3;
const MIN_SCORE = 0.6;
const NEW_PER_ROUND = 20;
/** Distance of added hits below the worst of the top ten. */
const BELOW_TOP = 0.05;
const TOP_HITS = 10;
const FRONTIER_HITS = 20;
const ENTITIES_PER_ROUND = 10;
const HITS_PER_ENTITY = 20;

/** The hits followed by those that the rounds added, with metadata on the rounds. */
export function* exhaust(
  hits: readonly StageHit[],
  query: RecallQuery,
  options: RecallOptions,
): Recalling<{ hits: StageHit[]; metadata: ExhaustiveMetadata }> {
  const cap = Math.max(0, lowestScore(hits.slice(0, TOP_HITS)) - BELOW_TOP);
  const known = new Set(hits.map(({ grain }) => grain.hash));
  const asked = new Set<string>();
  const added: StageHit[] = [];
  const rounds: ExhaustiveRound[] = [];
  let frontier: readonly StageHit[] = hits.slice(0, FRONTIER_HITS);
  let converged = false;
  for (let round = 1; round <= (options.exhaustiveMaxRounds ?? ROUNDS) && !converged; round++) {
    const entities = entitiesOfHits(frontier, ENTITIES_PER_ROUND + asked.size)
      .filter((entity) => !asked.has(entity))
      .slice(0, ENTITIES_PER_ROUND);
    if (entities.length === 0) {
      converged = true;
      break;
    }
    for (const entity of entities) asked.add(entity);
    const answers = yield* search(
      entities.map((entity) => ({
        ...followUp(query, { limit: HITS_PER_ENTITY }),
        filter: aboutEntity(query.filter, entity),
        structural: true,
      })),
    );
    const fresh = new Map<string, StageHit>();
    for (const hit of answers.flat().sort(compareHits))
      if (!known.has(hit.grain.hash) && !fresh.has(hit.grain.hash)) fresh.set(hit.grain.hash, hit);
    const strong = [...fresh.values()].filter((hit) => !hit.judged || strengthOf(hit) >= MIN_SCORE);
    const taken = strong.slice(0, NEW_PER_ROUND).map((hit) => capped(hit, cap, 'expansion'));
    for (const { grain } of taken) known.add(grain.hash);
    added.push(...taken);
    rounds.push({
      round,
      queriesIssued: entities.length,
      newHashes: taken.length,
      filteredByMinScore: fresh.size - strong.length,
      budgetCapped: strong.length - taken.length,
    });
    converged = taken.length === 0;
    frontier = taken;
  }
  return {
    hits: [...hits, ...added],
    metadata: defined({
      roundsExecuted: rounds.length,
      entitiesFound: [...asked],
      initialUniqueCount: hits.length,
      finalUniqueCount: hits.length + added.length,
      roundStats: rounds,
      converged,
      expansionGrainsFiltered: rounds.reduce((sum, round) => sum + round.filteredByMinScore, 0),
      expansionGrainsBudgetCapped: rounds.reduce((sum, round) => sum + round.budgetCapped, 0),
      expansionScoreCap: hits.length === 0 ? undefined : cap,
    }),
  };
}
