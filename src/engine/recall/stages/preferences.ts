// Adds the context of preferences: a stated preference alone seldom says what it was about.
import type { RecallQuery } from '../../calls/recall.ts';
import { capped, lowestScore } from './added.ts';
import { type StageHit, textField, textOf } from './hit.ts';
import { followUp, type Recalling, search } from './questions.ts';

const HITS_READ = 10;
const SESSIONS = 3;
const HITS_PER_SESSION = 2;
const SESSION_HITS_READ = 50;
/** Distance of added hits below all found ones. */
const BELOW_FOUND = 0.05;

const PREFERENCE =
  /\b(?:prefer(?:s|red|ence|ences)?|favou?rites?|likes?|liked|loves?|loved|enjoys?|enjoyed|dislikes?|hates?|fond of|rather)\b/i;
const ASKS_PREFERENCE =
  /\b(?:prefer(?:s|red|ences?)?|favou?rites?|recommend(?:s|ed|ations?)?|suggest(?:s|ions?)?)\b|\b(?:do|does|did|would)\b.*\b(?:like|love|enjoy|hate|dislike)\b/i;

/** True if the query asks for preferences. */
export function asksPreference(text: string | undefined): boolean {
  return text !== undefined && ASKS_PREFERENCE.test(text.slice(0, 1_024));
}

/** The hits followed by the grains nearest in time to each preference among the top ten, session by session. */
export function* enrichPreferences(
  hits: readonly StageHit[],
  query: RecallQuery,
): Recalling<{ hits: StageHit[]; added: ReadonlySet<string> }> {
  const sessions = new Map<string, StageHit>();
  for (const hit of hits.slice(0, HITS_READ)) {
    const session = textField(hit.grain, 'session_id');
    if (session === undefined || sessions.has(session) || sessions.size >= SESSIONS) continue;
    if (PREFERENCE.test(textOf(hit.grain).slice(0, 4_096))) sessions.set(session, hit);
  }
  const answers = yield* search(
    [...sessions.keys()].map((sessionId) =>
      followUp(query, { text: null, limit: SESSION_HITS_READ, filter: { sessionId }, structural: true }),
    ),
  );
  const known = new Set(hits.map(({ grain }) => grain.hash));
  const cap = lowestScore(hits) - BELOW_FOUND;
  const added: StageHit[] = [];
  [...sessions.values()].forEach(({ grain: preference }, at) => {
    const away = (hit: StageHit): number => Math.abs(hit.grain.createdAtMs - preference.createdAtMs);
    const nearest = answers[at]!.filter(({ grain }) => !known.has(grain.hash)).sort((a, b) => away(a) - away(b));
    for (const hit of nearest.slice(0, HITS_PER_SESSION)) {
      known.add(hit.grain.hash);
      added.push(capped(hit, cap, 'expansion'));
    }
  });
  return { hits: [...hits, ...added], added: new Set(added.map(({ grain }) => grain.hash)) };
}
