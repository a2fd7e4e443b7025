// The words of CAL: keywords, words held for later use, and excluded words.

function words(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().split(/\s+/));
}

/** Words that start a statement. LET and CAL/1 precede one. */
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

/** In lower case, like all sets here. None may be an identifier. */
export const KEYWORDS = words(`RECALL ASSEMBLE WHERE AND OR NOT IN BETWEEN LIMIT OFFSET ORDER BY ASC DESC WITH EXPLAIN
  SCOPE UNION INTERSECT EXCEPT SELECT COUNT FIRST GROUP SUBJECTS OBJECTS HASHES PROJECT INCLUDE EXCLUDE IS NULL TRUE
  FALSE EXISTS HISTORY DESCRIBE BATCH COALESCE ABOUT RECENT SINCE LIKE MY CONTRADICTIONS AS FOR FROM BUDGET PRIORITY
  FORMAT LET THREAD DIFF ADD SUPERSEDE REVERT SET REASON BECAUSE STREAM TEMPLATE DEFINE UNDEFINE EXTENDS HEADER ELEMENT
  ELEMENT_SUMMARY ELEMENT_OMIT SOURCE_BREAK FOOTER PREFERENCE KNOWLEDGE PERMISSION INTERACTION AGENCY LIFECYCLE
  OBSERVATION CAL OF`);

/** Words without a meaning yet. None may be an identifier. */
export const HELD_WORDS = words(`FIND RELATE TIMELINE TRACE GRAPH ANNOTATE MATCHING SIMILAR NEAR TAGGED USER VIA DEPTH
  TOP UNTIL LAST HAVING DIVERSITY MMR THRESHOLD RERANK PROVENANCE SUPERSEDED EXPLANATION SCORE_BREAKDOWN CONSISTENCY
  EVENTUAL BOUNDED LINEARIZABLE CACHE PIN UNPIN MERGE LANG CHUNK PAUSE RESUME CANCEL`);

/** Words of operations that CAL does not have. None may be a statement, label, name, alias or field. */
export const EXCLUDED_WORDS =
  words(`DELETE DROP FORGET ERASE DESTROY PURGE TRUNCATE INSERT CREATE WRITE STORE KEY ENCRYPT
  DECRYPT ROTATE MASTER DEK SECRET POLICY SEAL UNSEAL GRANT REVOKE CONSENT RESTRICT SCHEMA PARTITION INDEX MIGRATION
  TOKEN`);

/** Fields that share their name with a reserved word (D-9). */
export const FIELDS_THAT_ARE_RESERVED: ReadonlySet<string> = new Set(['threshold', 'scope']);

/** True if a caller may not use the word as a name. `word` is in lower case. */
export function isReserved(word: string): boolean {
  return KEYWORDS.has(word) || HELD_WORDS.has(word) || EXCLUDED_WORDS.has(word);
}

/** The options of WITH. Vendor options start with `x_`. */
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

/** The user of the session. This parameter is always bound. */
export const CURRENT_USER_PARAMETER = 'current_user_id';
