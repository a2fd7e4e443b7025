// Queries as a language model writes them that knows SQL well and CAL a little. A model gets no second guess: each must
// run, or the error must suggest the query that was meant.

/** Queries separated by blank lines. */
export const HABITS: readonly string[] = `
RECALL beliefs WHERE subject = "alice"

RECALL beliefs ABOUT "alice" LIMIT 5

RECALL beliefs WHERE relation = PREFERENCE

RECALL beliefs WHERE relation = "PREFERENCE" AND subject = "alice"

RECALL beliefs WHERE relation IS PREFERENCES

RECALL beliefs WHERE relation IS NOT PREFERENCE

RECALL beliefs WHERE subject = alice

RECALL beliefs WHERE subject = 'alice'

RECALL beliefs WHERE subject == "alice"

RECALL beliefs WHERE subject <> "alice"

RECALL beliefs WHERE subject = "alice" OR subject = "bob"

RECALL beliefs WHERE (subject = "alice" OR subject = "bob") AND confidence > 0.5

RECALL beliefs WHERE NOT subject = "alice"

RECALL beliefs WHERE subject NOT IN ("alice", "bob")

RECALL beliefs WHERE subject IN ["alice", "bob"]

RECALL beliefs WHERE confidence >= "0.8"

RECALL beliefs WHERE confidence > .5

RECALL beliefs WHERE confidence > 80%

RECALL beliefs WHERE confidence BETWEEN 0.5 AND 0.9

RECALL beliefs WHERE confidence IS NOT NULL

RECALL beliefs WHERE user_id IS NOT NULL

RECALL beliefs WHERE user_id IS NULL

RECALL beliefs WHERE object != NULL

RECALL events WHERE session_id IS NOT NULL

RECALL beliefs WHERE object LIKE "%tea%"

RECALL beliefs WHERE object CONTAINS "tea"

RECALL events WHERE content CONTAINS "saffron"

RECALL events WHERE content LIKE '%saffron%' LIMIT 5

RECALL beliefs WHERE tags = "food"

RECALL beliefs WHERE tags IN ("food", "ui")

RECALL beliefs WHERE tags CONTAINS "food"

RECALL beliefs WHERE tags INCLUDE "food"

RECALL beliefs WHERE "food" IN tags

RECALL beliefs WHERE tag = "food"

RECALL beliefs WHERE created_at > "2026-01-01"

RECALL beliefs WHERE created_at >= "2026-01-01" AND created_at < "2026-04-01"

RECALL beliefs ORDER BY created_at DESC LIMIT 5

RECALL beliefs WHERE time > "yesterday"

RECALL events WHERE timestamp > "2026-01-01"

RECALL events WHERE date >= "2026-02-01"

RECALL events WHERE created_at > NOW() - INTERVAL 7 DAY

RECALL events WHERE created_at > NOW() - INTERVAL '7 days'

RECALL events SINCE yesterday

RECALL events SINCE last week

RECALL events SINCE "7d"

RECALL events SINCE "past 24 hours"

RECALL events SINCE 2026-02-01

RECALL goals WHERE status = "active"

RECALL goals WHERE state = "active"

RECALL goals WHERE status = 'completed' ORDER BY due_date

RECALL goals WHERE deadline < "2026-12-31"

RECALL goals WHERE goal_state = active

RECALL goals WHERE goal_state = "done"

RECALL goals WHERE goal_state IN ("active", "blocked")

RECALL goals WHERE goal_state = "open" AND priority > 0.5

RECALL actions WHERE tool = "search"

RECALL actions WHERE tool_name = "search" AND status = "complete"

RECALL actions WHERE is_error = "true"

RECALL actions WHERE is_error IS TRUE

RECALL actions WHERE failed = true

RECALL WHERE goal_state = "active"

RECALL WHERE role = "user" LIMIT 5

RECALL beliefs WHERE role = "user"

RECALL beliefs WHERE content = "tea"

RECALL beliefs WHERE predicate = "works_at"

RECALL beliefs WHERE value = "Acme"

RECALL beliefs WHERE entity = "alice" AND certainty > 0.5

RECALL beliefs WHERE user = "ann"

RECALL events WHERE session = "s1"

RECALL events WHERE speaker = "user"

RECALL beliefs ORDER BY relevance DESC

RECALL beliefs LIKE "tea" ORDER BY similarity DESC LIMIT 5

SELECT * FROM beliefs

SELECT * FROM beliefs WHERE subject = 'alice' ORDER BY confidence DESC LIMIT 5

SELECT subject, object FROM beliefs WHERE relation = 'works_at'

SELECT COUNT(*) FROM beliefs

SELECT COUNT(*) FROM beliefs WHERE subject = 'alice'

SELECT DISTINCT subject FROM beliefs

SELECT * FROM facts WHERE subject = 'alice'

SELECT * FROM memories LIMIT 10

SELECT b.object FROM beliefs b WHERE b.subject = 'alice'

SELECT relation, COUNT(*) FROM beliefs GROUP BY relation

RECALL * FROM beliefs

RECALL beliefs SELECT *

RECALL beliefs | SELECT *

RECALL beliefs COUNT(*)

RECALL beliefs WHERE subject = "alice" | COUNT(*)

RECALL COUNT(beliefs)

COUNT beliefs WHERE subject = "alice"

RECALL TOP 5 beliefs

RECALL beliefs TOP 5

RECALL TOP 3 beliefs WHERE subject = "alice" ORDER BY confidence DESC

RECALL LAST 5 events

RECALL events LAST 5

RECALL FIRST 3 goals

RECALL beliefs FIRST 3

RECALL all

RECALL ALL beliefs

RECALL everything ABOUT "alice"

RECALL memories ABOUT "alice"

RECALL belief WHERE subject = "alice"

RECALL facts ABOUT "alice"

RECALL episodes RECENT 5

RECALL tools WHERE tool_name = "search"

RECALL events RECENT

RECALL events RECENT 5 LIMIT 5

RECALL events RECENT 5 ORDER BY time DESC

RECALL beliefs LIMIT 5000

RECALL beliefs LIMIT = 5

RECALL beliefs LIMIT 10, 5

RECALL beliefs ORDER BY confidence DESC, time DESC

RECALL beliefs ORDER BY confidence, importance, time

RECALL beliefs ORDER confidence DESC

RECALL beliefs SORT BY confidence DESC

RECALL beliefs ORDER BY confidence DESCENDING

RECALL beliefs ORDER BY -confidence LIMIT 5

RECALL beliefs GROUP BY relation

RECALL beliefs GROUP BY relation | COUNT

RECALL beliefs GROUP BY relation LIMIT 5

RECALL beliefs GROUP BY relation HAVING COUNT > 1

RECALL beliefs COUNT BY relation

RECALL beliefs | SUBJECTS | COUNT

RECALL beliefs | SUBJECTS | LIMIT 5

RECALL beliefs DISTINCT subject

RECALL goals | SUBJECTS

RECALL beliefs subject = "alice"

RECALL beliefs WITH subject = "alice"

RECALL beliefs WHERE subject = "alice", confidence > 0.5

RECALL beliefs WHERE subject = "alice" WHERE confidence > 0.5

RECALL beliefs WHERE subject = "alice" && confidence > 0.5

RECALL beliefs WHERE subject = "alice" AND LIMIT 5

RECALL beliefs WHERE subject = "alice

RECALL beliefs WHERE ABOUT "alice"

RECALL beliefs ABOUT alice

RECALL beliefs ABOUT "alice" LIKE "tea"

RECALL beliefs ABOUT = "alice"

RECALL beliefs WHERE verification_status != "retracted"

RECALL beliefs WHERE source = "agent"

RECALL beliefs WHERE type = "beliefs"

RECALL WHERE type IN ("belief", "goal")

RECALL beliefs WHERE subject IN (SELECT subject FROM beliefs WHERE object = 'Acme')

RECALL beliefs WHERE subject IN (RECALL beliefs WHERE object = "Acme")

RECALL beliefs WHERE subject = $user

RECALL MY beliefs WHERE user_id = "ann"

RECALL beliefs UNION RECALL goals

RECALL beliefs ABOUT "alice" UNION ALL RECALL beliefs ABOUT "bob"

(RECALL beliefs ABOUT "alice") MINUS (RECALL beliefs WHERE confidence < 0.5)

(RECALL beliefs) UNION (RECALL goals) | COUNT

LET team = RECALL beliefs WHERE object = "Acme" | SUBJECTS; RECALL beliefs WHERE subject IN (team)

LET $team = RECALL beliefs WHERE object = "Acme" | SUBJECTS
RECALL beliefs WHERE subject IN $team

LET $team = (RECALL beliefs WHERE object = "Acme" | SUBJECTS); RECALL beliefs WHERE subject IN ($team)

ASSEMBLE FROM prefs: (RECALL beliefs WHERE relation IS PREFERENCE), goals: (RECALL goals) BUDGET 500

ASSEMBLE FROM prefs: (RECALL beliefs), goals: (RECALL goals) BUDGET 500 tokens PRIORITY prefs, goals

ASSEMBLE FROM prefs: (RECALL beliefs), goals: (RECALL goals) PRIORITY prefs: 0.7, goals: 0.3

ASSEMBLE FROM beliefs, goals BUDGET 500 tokens

ASSEMBLE FROM prefs: RECALL beliefs ABOUT "alice", goals: RECALL goals BUDGET 500 tokens

ASSEMBLE "briefing" FROM a: (RECALL beliefs)

ASSEMBLE FROM a: (RECALL beliefs) FORMAT markdown BUDGET 500 tokens

ASSEMBLE FROM a: (RECALL beliefs) AS markdown

ASSEMBLE FROM a: (RECALL beliefs) FORMAT "markdown"

ASSEMBLE FROM a: (RECALL beliefs) MAX_TOKENS 500

ASSEMBLE FROM a: (RECALL beliefs) BUDGET 50000 tokens

ASSEMBLE FROM all: ((RECALL beliefs ABOUT "alice") UNION (RECALL goals)) BUDGET 500 tokens

ASSEMBLE FROM a: (RECALL beliefs) FOR "a talk"

RECALL beliefs FORMAT table

RECALL beliefs AS "json"

RECALL beliefs WITH history

RECALL beliefs INCLUDE SUPERSEDED

DESCRIBE beliefs

DESCRIBE schema

DESCRIBE fields beliefs

SHOW capabilities

FIND beliefs ABOUT "alice"

SEARCH "saffron on the shelf"

GET beliefs WHERE subject = "alice"

beliefs WHERE subject = "alice"

HISTORY subject = "alice" AND relation = "mg:prefers"

HISTORY OF beliefs WHERE subject = "alice" AND relation = "mg:prefers"

EXISTS (RECALL beliefs WHERE subject = "alice")

BATCH { RECALL beliefs | COUNT; RECALL goals | COUNT }

RECALL beliefs | COUNT; RECALL goals | COUNT

COALESCE { RECALL beliefs ABOUT "alice", RECALL goals }

RECALL beliefs WHERE subject = "alice" AS markdown LIMIT 5;

-- what do we know?
RECALL beliefs WHERE subject = "alice"`
  .trim()
  .split(/\n\n+/);

/** The intended queries, where an exact match matters. */
export const MEANT: Readonly<Record<string, string>> = {
  'RECALL beliefs WHERE relation = PREFERENCE': 'RECALL beliefs WHERE relation IS PREFERENCE',
  'RECALL beliefs WHERE subject = alice': 'RECALL beliefs WHERE subject = "alice"',
  "RECALL beliefs WHERE subject = 'alice'": 'RECALL beliefs WHERE subject = "alice"',
  'RECALL goals WHERE status = "active"': 'RECALL goals WHERE goal_state = "active"',
  'SELECT * FROM beliefs': 'RECALL beliefs',
  "SELECT COUNT(*) FROM beliefs WHERE subject = 'alice'": 'RECALL beliefs WHERE subject = "alice" | COUNT',
  'SELECT DISTINCT subject FROM beliefs': 'RECALL beliefs | SUBJECTS',
  'RECALL beliefs COUNT(*)': 'RECALL beliefs COUNT',
  'RECALL TOP 5 beliefs': 'RECALL beliefs LIMIT 5',
  'RECALL beliefs TOP 5': 'RECALL beliefs LIMIT 5',
  'RECALL LAST 5 events': 'RECALL events RECENT 5',
  'RECALL all': 'RECALL',
  'RECALL ALL beliefs': 'RECALL beliefs',
  'RECALL beliefs WHERE user_id IS NOT NULL': 'RECALL beliefs WHERE user_id != ""',
  'RECALL beliefs ORDER BY confidence, importance, time': 'RECALL beliefs ORDER BY confidence, importance',
  'RECALL beliefs WHERE tags = "food"': 'RECALL beliefs WHERE tags INCLUDE ["food"]',
  'RECALL WHERE goal_state = "active"': 'RECALL goals WHERE goal_state = "active"',
  'RECALL beliefs WHERE object LIKE "%tea%"': 'RECALL beliefs WHERE query = "tea"',
  'RECALL COUNT(beliefs)': 'RECALL beliefs COUNT',
  'RECALL beliefs LIMIT 10, 5': 'RECALL beliefs OFFSET 10 LIMIT 5',
  'RECALL beliefs WHERE tags IN ("food", "ui")': 'RECALL beliefs WHERE (tags INCLUDE ["food"] OR tags INCLUDE ["ui"])',
  'ASSEMBLE FROM a: (RECALL beliefs) AS markdown': 'ASSEMBLE FROM a: (RECALL beliefs) FORMAT markdown',
  'LET team = RECALL beliefs WHERE object = "Acme" | SUBJECTS; RECALL beliefs WHERE subject IN (team)':
    'LET $team = RECALL beliefs WHERE object = "Acme" | SUBJECTS; RECALL beliefs WHERE subject IN ($team)',
  'RECALL beliefs UNION RECALL goals': '(RECALL beliefs) UNION (RECALL goals)',
  'RECALL beliefs SELECT *': 'RECALL beliefs',
  'ASSEMBLE FROM prefs: (RECALL beliefs), goals: (RECALL goals) BUDGET 500 tokens PRIORITY prefs, goals':
    'ASSEMBLE FROM prefs: (RECALL beliefs), goals: (RECALL goals) BUDGET 500 tokens PRIORITY prefs > goals',
  'RECALL beliefs WHERE verification_status != "retracted"':
    'RECALL beliefs WHERE NOT verification_status = "retracted"',
};

/** Meaningless queries: they are rejected without a suggestion. */
export const HOPELESS: readonly string[] = [
  'DELETE FROM beliefs WHERE subject = "alice"',
  'FORGET ALL',
  'DROP TABLE beliefs',
  'INSERT INTO beliefs VALUES ("a", "b", "c")',
  'UPDATE beliefs SET object = "x"',
  'What does alice like to drink?',
  '',
];
