// One page for the prompt of a model that writes queries. A test keeps docs/cal-primer.md equal to it.
import { LISTED_FIELDS } from '../store/indexed-fields.ts';

const LINE_CHARS = 140;

/** Fields that have an index of their own. Listed fields share one. */
const OWN_INDEX =
  'type subject relation object user_id namespace session_id tags time confidence importance hash contradicted verification_status';

/** A point of a list as lines. */
function point(text: string): string {
  const lines = ['-'];
  for (const word of text.split(' '))
    if (lines.at(-1)!.length + word.length < LINE_CHARS) lines[lines.length - 1] += ` ${word}`;
    else lines.push(`  ${word}`);
  return lines.join('\n');
}

const names = [...new Set([...OWN_INDEX.split(' '), ...LISTED_FIELDS])].join(', ');
const INDEXED = point(
  `Indexes serve: ${names}. Conditions on other fields open the grains that the indexes leave, at most 100,000.`,
);

export const PRIMER = `# CAL in one page

CAL queries a memory for grains. It reads and cannot delete. A query has one statement. Put this page into the prompt of a
model that writes queries. \`DESCRIBE primer\` returns it.

Types, in the plural after RECALL: beliefs (subject, relation, object), events (what was said: role, content, session_id), goals
(goal_state, deadline), actions (tool_name, is_error), observations, states, workflows, reasonings, consensuses, consents.

## Six templates

\`\`\`cal
RECALL beliefs ABOUT "alice"

RECALL beliefs WHERE subject = "alice" AND relation = "works_at" ORDER BY time DESC LIMIT 5

RECALL LIKE "what does she eat for breakfast" LIMIT 10

RECALL events WHERE role = "user" SINCE "last 7 days" RECENT 20

RECALL beliefs WHERE subject IN ("alice", "bob") AND confidence >= 0.8 | COUNT

ASSEMBLE FOR "planning the week"
  FROM who: (RECALL beliefs ABOUT "alice"), goals: (RECALL goals WHERE goal_state = "active"), said: (RECALL events RECENT 10)
  BUDGET 800 tokens
  PRIORITY goals > who > said
  FORMAT markdown
\`\`\`

## Not SQL

| not | but |
| --- | --- |
| \`SELECT * FROM beliefs\` | \`RECALL beliefs\` |
| \`SELECT COUNT(*) FROM beliefs\` | \`RECALL beliefs \\| COUNT\` |
| \`SELECT DISTINCT subject FROM beliefs\` | \`RECALL beliefs \\| SUBJECTS\` |
| \`'alice'\` | \`"alice"\` |
| \`object LIKE '%tea%'\` | \`RECALL beliefs LIKE "tea"\` |
| \`tags = "food"\` | \`RECALL WHERE tags INCLUDE ["food"]\` |
| \`relation = PREFERENCE\` | \`RECALL beliefs WHERE relation IS PREFERENCE\` |
| \`status = "active"\` | \`RECALL goals WHERE goal_state = "active"\` |
| \`IS NOT NULL\` | \`RECALL beliefs WHERE user_id != ""\` |
| \`TOP 5\`, \`LAST 5\` | \`RECALL events RECENT 5\` |
| \`WHERE created_at > NOW() - 7 days\` | \`RECALL SINCE "last 7 days"\` |
| \`GROUP BY x HAVING …\` | \`RECALL beliefs \\| GROUP BY relation\` |
| \`A UNION B\` | \`(RECALL beliefs ABOUT "a") UNION (RECALL beliefs ABOUT "b")\` |
| a join | \`RECALL beliefs WHERE subject IN (RECALL beliefs WHERE object = "acme" \\| SUBJECTS)\` |

## Defaults and rules

- A query returns 20 grains, best score first, ties by hash. \`LIMIT\` goes up to 1000. COUNT, GROUP BY, sets, LET, subqueries,
  SUBJECTS, OBJECTS and HASHES use all matching grains.
- Old versions are left out. \`WITH superseded\` includes them.
- A grain without a field fails every condition on it, \`!=\` included, and passes its NOT.
- ABOUT means \`subject = "…"\`, exact and case-sensitive. If nothing has that subject, ABOUT returns texts that hold its words, with
  a warning. LIKE searches by words and meaning.
- Texts are compared whole and case-sensitively. Times: \`"2026-03-01"\`, \`"today"\`, \`"last 3 days"\`, epoch seconds.
- ASSEMBLE defaults to 4000 tokens, sml, and sources in the order of FROM.
${INDEXED}
- OR, NOT, parentheses, NOT IN and \`<\` on times are extensions of this server: they work, with a warning.
- An error has a \`suggestion\` and, if it can be corrected, an \`example\`: the whole corrected query.
`;
