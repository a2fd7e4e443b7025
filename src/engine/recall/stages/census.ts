// A census of sessions, so that a question about all sessions gets an answer from all of them: queries each session
// without a hit separately. A session is a namespace.

import { ask } from '../../asking/asking.ts';
import type { CensusMetadata, CensusSession, RecallOptions, RecallQuery } from '../../calls/recall.ts';
import { capped, lowestScore, strengthOf } from './added.ts';
import type { StageHit } from './hit.ts';
import { followUp, type Recalling, search } from './questions.ts';

const PER_SESSION = 2;
const MIN_SCORE = 0.35;
const QUERIES = 10;
/** Maximum number of sessions that are counted. */
const SESSIONS_MAX = 100_000;

export interface Census {
  /** The hits, including added ones. */
  readonly hits: StageHit[];
  /** Hashes of the added hits. */
  readonly added: ReadonlySet<string>;
  readonly metadata: CensusMetadata;
}

export function* sessionCensus(
  hits: readonly StageHit[],
  query: RecallQuery,
  options: RecallOptions,
): Recalling<Census> {
  const perSession = options.sessionCensusMinPerSession ?? PER_SESSION;
  const minimum = options.sessionCensusMinScore ?? MIN_SCORE;
  const answered = hits.slice(0, query.limit);
  const represented = new Set(answered.map(({ grain }) => grain.namespace));
  const all = yield* sessionsAsked(query);
  for (const namespace of represented) all.add(namespace);
  const absent = absentSessions(all, represented, hits).slice(0, options.sessionCensusMaxQueries ?? QUERIES);
  const answers = yield* search(
    absent.map((namespace) => followUp(query, { limit: perSession, filter: { namespace } })),
  );
  const cap = lowestScore(answered);
  const added = new Map<string, StageHit>();
  const sessionStats = absent.map((namespace, at): CensusSession => {
    const found = answers[at]!;
    const good = found.filter((hit) => !hit.judged || strengthOf(hit) >= minimum);
    for (const hit of good) added.set(hit.grain.hash, capped(hit, cap, 'census'));
    if (good.length > 0) represented.add(namespace);
    return {
      namespace,
      grainsFound: found.length,
      grainsMerged: good.length,
      topScore: found.reduce((best, { score }) => Math.max(best, score), 0),
    };
  });
  return {
    hits: [...hits.filter(({ grain }) => !added.has(grain.hash)), ...added.values()],
    added: new Set(added.keys()),
    metadata: {
      totalSessions: all.size,
      representedSessions: represented.size,
      censusQueriesIssued: absent.length,
      grainsAdded: added.size,
      sessionStats,
    },
  };
}

function* sessionsAsked({ filter }: RecallQuery): Recalling<Set<string>> {
  if (filter.namespace !== undefined) return new Set([filter.namespace]);
  const { namespaces } = yield* ask('namespaces', { filter });
  return new Set([...namespaces].sort().slice(0, SESSIONS_MAX));
}

/**
 * Sessions without a hit in the answer. Sessions of hits beyond the limit come first, in hit order, because they are
 * known to match. The rest is sorted by name.
 */
function absentSessions(
  all: ReadonlySet<string>,
  represented: ReadonlySet<string>,
  hits: readonly StageHit[],
): string[] {
  const hinted = hits.map(({ grain }) => grain.namespace);
  return [...new Set([...hinted, ...all])].filter((namespace) => namespace !== '' && !represented.has(namespace));
}

/** Share of the memory's sessions that are in the answer. */
export function coverageRatio({ totalSessions, representedSessions }: CensusMetadata): number {
  return totalSessions === 0 ? 1 : representedSessions / totalSessions;
}
