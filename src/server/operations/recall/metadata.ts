// Schemas for the metadata of exhaustive recalls and session censuses, with the names of the contract's messages.
import type { CensusMetadata, ExhaustiveMetadata } from '../../../shards/protocol.ts';
import { type Static, Type } from '../type.ts';

export const ExhaustiveOutput = Type.Object({
  roundsExecuted: Type.Integer({ description: 'Number of rounds that ran.' }),
  entitiesFound: Type.Array(Type.String(), { description: 'Requested entities, in order.' }),
  initialUniqueCount: Type.Integer({ description: 'Number of different grains before the first round.' }),
  finalUniqueCount: Type.Integer({ description: 'Number of different grains after the last round.' }),
  roundStats: Type.Array(
    Type.Object({
      round: Type.Integer({ description: 'Number of the round, from 1.' }),
      queriesIssued: Type.Integer({ description: 'Number of queries of the round.' }),
      newHashes: Type.Integer({ description: 'Number of grains that the round added.' }),
      filteredByMinScore: Type.Integer({ description: 'Number of grains that matched too little.' }),
      budgetCapped: Type.Integer({ description: 'Number of grains that the limit of a round left out.' }),
    }),
    { description: 'Figures of each round.' },
  ),
  converged: Type.Boolean({ description: 'Whether the rounds ended because nothing new was found.' }),
  expansionGrainsFiltered: Type.Integer({ description: 'Number of grains that matched too little, in all rounds.' }),
  expansionGrainsBudgetCapped: Type.Integer({
    description: 'Number of grains that the limit of a round left out, in all rounds.',
  }),
  expansionScoreCap: Type.Optional(
    Type.Number({ description: 'Score that added grains stay at or below; absent when there was no hit before.' }),
  ),
});

export const CensusOutput = Type.Object({
  totalSessions: Type.Integer({ description: 'Number of sessions that the recall could find grains in.' }),
  representedSessions: Type.Integer({
    description: 'Number of sessions in the answer, with those that the census added.',
  }),
  censusQueriesIssued: Type.Integer({ description: 'Number of sessions that were searched.' }),
  grainsAdded: Type.Integer({ description: 'Number of grains that the census added.' }),
  sessionStats: Type.Array(
    Type.Object({
      namespace: Type.String({ description: 'Namespace of the session.' }),
      grainsFound: Type.Integer({ description: 'Number of grains that were found.' }),
      grainsMerged: Type.Integer({ description: 'Number of grains that matched well enough to be added.' }),
      topScore: Type.Number({ description: 'Best score in the session.' }),
    }),
    { description: 'Figures of each session that was searched.' },
  ),
});

/** Copies the read-only lists, because the schema's type has mutable ones. */
export function exhaustiveOutput(metadata: ExhaustiveMetadata): Static<typeof ExhaustiveOutput> {
  return { ...metadata, entitiesFound: [...metadata.entitiesFound], roundStats: [...metadata.roundStats] };
}

export function censusOutput(metadata: CensusMetadata): Static<typeof CensusOutput> {
  return { ...metadata, sessionStats: [...metadata.sessionStats] };
}
