// Decides which options make the stages select from all candidates instead of taking the top ones.
import type { RecallOptions } from '../../calls/recall.ts';

/** For each option: whether its value makes the stages select. A new option does not compile without a row. */
const CHOOSES: { readonly [K in keyof RecallOptions]-?: (value: NonNullable<RecallOptions[K]>) => boolean } = {
  subjectContains: never,
  objectContains: never,
  queryExpansion: isOn,
  queryDecompose: isOn,
  multiHop: isOn,
  recencyWeight: isOn,
  temporalField: never,
  targetDate: isOn,
  targetDateWeight: never,
  sessionAffinityBoost: isOn,
  subjectAffinityBoost: isOn,
  detectContradictions: isOn,
  includeContradicted: (value) => !value,
  aggregationIntent: never,
  deduplicate: isOn,
  deduplicateThreshold: never,
  conflictResolution: isOn,
  conflictSimilarityThreshold: never,
  // At 1, only the score counts, so nothing is selected for diversity.
  diversityLambda: (value) => value !== 1,
  minScore: never,
  minPerNamespace: isOn,
  maxNamespaces: isOn,
  sessionCensus: isOn,
  sessionCensusMinPerSession: never,
  sessionCensusMinScore: never,
  sessionCensusMaxQueries: never,
  exhaustive: isOn,
  exhaustiveMaxRounds: never,
  preferenceEnrichment: never,
  includeSources: never,
  annotateRelativeTime: never,
  referenceDate: never,
  countEntities: never,
  explanation: never,
  scoreBreakdown: never,
};

function never(): boolean {
  return false;
}

function isOn(value: boolean | number): boolean {
  return value !== false && value !== 0;
}

const NAMES = Object.keys(CHOOSES) as (keyof RecallOptions)[]; // the keys of the table above

export function asksForChoice(options: RecallOptions): boolean {
  return NAMES.some((name) => asks(options, name));
}

export function asksForDiversity(options: RecallOptions): boolean {
  return asks(options, 'diversityLambda');
}

function asks(options: RecallOptions, name: keyof RecallOptions): boolean {
  const value = options[name];
  const chooses = CHOOSES[name] as (value: unknown) => boolean; // Each row takes the values of its own option.
  return value !== undefined && chooses(value);
}
