// The words of CAL: those that mean something, those kept for later, and those that no query may use.

function words(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().split(/\s+/));
}

/** Words that start a statement; LET and CAL/1 stand before one. */
export const STATEMENT_WORDS = [
  'recall',
  'assemble',
  'exists',
  'history',
  'explain',
  'describe',
  'batch',
  'coalesce',
  'define',
  'add',
  'supersede',
  'revert',
] as const;

/** Lower case, like all sets here. None may be a bare identifier. */
export const KEYWORDS = words(`RECALL ASSEMBLE WHERE AND OR NOT IN BETWEEN LIMIT OFFSET ORDER BY ASC DESC WITH EXPLAIN
  SCOPE UNION INTERSECT EXCEPT SELECT COUNT FIRST GROUP SUBJECTS OBJECTS HASHES PROJECT INCLUDE EXCLUDE IS NULL TRUE
  FALSE EXISTS HISTORY DESCRIBE BATCH COALESCE ABOUT RECENT SINCE LIKE MY CONTRADICTIONS AS FOR FROM BUDGET PRIORITY
  FORMAT LET THREAD DIFF ADD SUPERSEDE REVERT SET REASON BECAUSE STREAM TEMPLATE DEFINE UNDEFINE EXTENDS HEADER ELEMENT
  ELEMENT_SUMMARY ELEMENT_OMIT SOURCE_BREAK FOOTER PREFERENCE KNOWLEDGE PERMISSION INTERACTION AGENCY LIFECYCLE
  OBSERVATION CAL OF`);

/** Without a meaning yet, and under the same restriction. */
export const HELD_WORDS = words(`FIND RELATE TIMELINE TRACE GRAPH ANNOTATE MATCHING SIMILAR NEAR TAGGED USER VIA DEPTH
  TOP UNTIL LAST HAVING DIVERSITY MMR THRESHOLD RERANK PROVENANCE SUPERSEDED EXPLANATION SCORE_BREAKDOWN CONSISTENCY
  EVENTUAL BOUNDED LINEARIZABLE CACHE PIN UNPIN MERGE LANG CHUNK PAUSE RESUME CANCEL`);

/** No statement, label, name, alias or field. What they would do, CAL cannot. */
export const EXCLUDED_WORDS =
  words(`DELETE DROP FORGET ERASE DESTROY PURGE TRUNCATE INSERT CREATE WRITE STORE KEY ENCRYPT
  DECRYPT ROTATE MASTER DEK SECRET POLICY SEAL UNSEAL GRANT REVOKE CONSENT RESTRICT SCHEMA PARTITION INDEX MIGRATION
  TOKEN`);

/** Fields that share their name with a reserved word (D-9). */
export const FIELDS_THAT_ARE_RESERVED: ReadonlySet<string> = new Set(['threshold', 'scope']);

/** True for a word that may not be a name of the caller's. Lower case. */
export function isReserved(word: string): boolean {
  return KEYWORDS.has(word) || HELD_WORDS.has(word) || EXCLUDED_WORDS.has(word);
}

/** The options of WITH; those of a vendor start with `x_`. */
export const WITH_OPTIONS = [
  'superseded',
  'score_breakdown',
  'explanation',
  'provenance',
  'contradiction_detection',
  'summarize',
  'iso_timestamps',
  'progressive_disclosure',
  'diversity',
  'consistency',
  'dedup',
  'locale',
  'cache',
] as const;

export const STREAM_EVENTS = ['progress', 'budget', 'chunks', 'all'] as const;

/** Always bound: the user of the session. */
export const CURRENT_USER_PARAMETER = 'current_user_id';
