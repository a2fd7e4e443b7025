// The assemble queries that have a name.

/** What the session said, newest first, and what the memory knows about the message: of its user, or of nobody. */
const AGENT_CONTEXT = `ASSEMBLE agent_context
  FROM conversation: (RECALL events WHERE session_id = $session_id RECENT 12),
       knowledge: (RECALL beliefs LIKE $query WHERE NOT user_id != $user LIMIT 20)
  BUDGET 4000 tokens
  PRIORITY conversation > knowledge
  FORMAT sml WITH progressive_disclosure`;

export const NAMED_QUERIES: ReadonlyMap<string, string> = new Map([['agent_context', AGENT_CONTEXT]]);
