// What an exhaustive recall and a census of sessions tell of themselves, under the names of the contract's messages.
import type { CensusMetadata, ExhaustiveMetadata } from '../../../shards/protocol.ts';
import { type Static, Type } from '../type.ts';

export const ExhaustiveOutput = Type.Object({
  roundsExecuted: Type.Integer(),
  entitiesFound: Type.Array(Type.String()),
  initialUniqueCount: Type.Integer(),
  finalUniqueCount: Type.Integer(),
  roundStats: Type.Array(
    Type.Object({
      round: Type.Integer(),
      queriesIssued: Type.Integer(),
      newHashes: Type.Integer(),
      filteredByMinScore: Type.Integer(),
      budgetCapped: Type.Integer(),
    }),
  ),
  converged: Type.Boolean(),
  expansionGrainsFiltered: Type.Integer(),
  expansionGrainsBudgetCapped: Type.Integer(),
  expansionScoreCap: Type.Optional(Type.Number()),
});

export const CensusOutput = Type.Object({
  totalSessions: Type.Integer(),
  representedSessions: Type.Integer(),
  censusQueriesIssued: Type.Integer(),
  grainsAdded: Type.Integer(),
  sessionStats: Type.Array(
    Type.Object({
      namespace: Type.String(),
      grainsFound: Type.Integer(),
      grainsMerged: Type.Integer(),
      topScore: Type.Number(),
    }),
  ),
});

/** Copies whose lists may be changed, as schemas have them. */
export function exhaustiveOutput(metadata: ExhaustiveMetadata): Static<typeof ExhaustiveOutput> {
  return { ...metadata, entitiesFound: [...metadata.entitiesFound], roundStats: [...metadata.roundStats] };
}

export function censusOutput(metadata: CensusMetadata): Static<typeof CensusOutput> {
  return { ...metadata, sessionStats: [...metadata.sessionStats] };
}
