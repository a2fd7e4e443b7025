// The assemble queries that have a name, one for each template. The conversation itself is not among their sources: the
// model gets it as messages. The goal, the workflow and the tools of the definition are told to the model beside them.
import { TOKEN_BUDGET_DEFAULT } from '../../../engine/base/limits.ts';
import { RECALL_TOOL } from '../recall-actions.ts';

/** Options of a query. */
export interface NamedFor {
  /** Only grains of the turn's user, and of nobody. Otherwise the query shows what the caller may see. */
  readonly forUser: boolean;
  /** Tokens that the text may have. */
  readonly budget: number;
}

interface Source {
  readonly label: string;
  readonly recall: string;
  /** Conditions beside the one for the user. */
  readonly where?: string | undefined;
  /** The clauses after the conditions. */
  readonly stage: string;
}

/** The sources of a query, the most important first. */
type Sources = readonly Source[];

const SPOKEN = 'role IN ("user", "assistant", "system", "tool")';
/** Searches of a model: their results repeat grains that the other sources find. */
const SEARCHED = `tool_name = "${RECALL_TOOL}"`;
const OPEN_GOALS = 'goal_state IN ("active", "suspended") AND tags EXCLUDE ["granary:harness"]';

/** Chunks of documents, and other events that nobody said in a conversation. */
const documents = (limit: number): Source => ({
  label: 'documents',
  recall: 'RECALL events LIKE $query',
  where: `NOT ${SPOKEN}`,
  stage: `LIMIT ${limit}`,
});

const facts = (limit: number): Source => ({
  label: 'facts',
  recall: 'RECALL beliefs LIKE $query',
  stage: `LIMIT ${limit}`,
});

const goals = (limit: number): Source => ({
  label: 'open_goals',
  recall: 'RECALL goals LIKE $query',
  where: OPEN_GOALS,
  stage: `LIMIT ${limit}`,
});

/** Events of other conversations about the message. */
const earlier = (limit: number): Source => ({
  label: 'earlier_conversations',
  recall: 'RECALL events LIKE $query',
  where: `${SPOKEN} AND NOT session_id = $session_id`,
  stage: `LIMIT ${limit}`,
});

const about = (label: string, type: string, limit: number): Source => ({
  label,
  recall: `RECALL ${type} LIKE $query`,
  stage: `LIMIT ${limit}`,
});

const QUERIES: Readonly<Record<string, Sources>> = {
  agent_context: [
    facts(20),
    documents(12),
    {
      label: 'session_notes',
      recall: 'RECALL events',
      where: `session_id = $session_id AND NOT ${SPOKEN}`,
      stage: 'RECENT 12',
    },
  ],
  account_360: [facts(25), goals(10), about('observations', 'observations', 8), earlier(8), documents(8)],
  meeting_intelligence: [
    {
      label: 'open_action_items',
      recall: 'RECALL goals',
      where: OPEN_GOALS,
      stage: 'LIMIT 15 ORDER BY deadline ASC',
    },
    documents(12),
    facts(15),
    about('reasons', 'reasonings', 5),
    { label: 'latest_notes', recall: 'RECALL events', where: `NOT ${SPOKEN}`, stage: 'RECENT 6' },
  ],
  support_copilot: [
    documents(10),
    facts(15),
    goals(6),
    {
      label: 'steps_tried',
      recall: 'RECALL actions LIKE $query',
      where: `NOT action_phase = "definition" AND NOT ${SEARCHED}`,
      stage: 'LIMIT 6',
    },
    earlier(6),
  ],
  sales_playbook: [documents(10), facts(15), goals(8), earlier(6)],
  policy_library: [
    documents(16),
    facts(8),
    about('agreements', 'consensuses', 5),
    about('interpretations', 'reasonings', 4),
  ],
  rfp_questionnaire: [
    { ...facts(20), label: 'approved_answers' },
    documents(14),
    about('agreements', 'consensuses', 5),
    goals(4),
  ],
};

export const QUERY_NAMES: readonly string[] = Object.keys(QUERIES);

/** The CAL text of a named query; undefined for another name. */
export function namedQuery(name: string, { forUser, budget }: NamedFor): string | undefined {
  const sources = Object.hasOwn(QUERIES, name) ? QUERIES[name] : undefined;
  if (sources === undefined) return undefined;
  const from = sources.map(({ label, recall, where, stage }) => {
    const conditions = [...(where === undefined ? [] : [where]), ...(forUser ? ['NOT user_id != $user'] : [])];
    const clause = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    return `${label}: (${recall}${clause} ${stage})`;
  });
  const labels = sources.map(({ label }) => label).join(' > ');
  return `ASSEMBLE ${name}\n  FROM ${from.join(',\n       ')}\n  BUDGET ${budget} tokens\n  PRIORITY ${labels}\n  FORMAT sml WITH progressive_disclosure`;
}

/** The text that a person would send for a named query. */
export function namedText(name: string): string | undefined {
  return namedQuery(name, { forUser: true, budget: TOKEN_BUDGET_DEFAULT });
}
