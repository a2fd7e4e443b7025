// A session of many grains in one memory, with many agents; and the requests whose cost could grow with them.
import type { Post } from './wide.ts';
import type { WorstRequest } from './worst.ts';

const SESSION = 'day';
/** Grains of one call. */
const BATCH = 1_000;
/** Calls that wait for one another: few, so that each is in time on a busy machine. */
const AT_ONCE = 10;
const WORDS = ['invoice', 'refund', 'shipping', 'warranty', 'complaint', 'address', 'discount'];

export interface Day {
  /** Id of the memory that is made. */
  readonly id: string;
  readonly partitions: number;
  readonly grains: number;
  readonly agents: number;
}

/** Makes the memory, and the requests for it. */
export async function sessionRequests(post: Post, day: Day): Promise<readonly WorstRequest[]> {
  const path = `/memories/${day.id}`;
  await post('/memories', { id: day.id, partitions: day.partitions });
  for (let from = 0; from < day.grains; from += BATCH) {
    const items = Array.from({ length: Math.min(BATCH, day.grains - from) }, (_, i) => grainOf(from + i));
    await post(`${path}/batch-add`, { grains: items });
  }
  for (let from = 0; from < day.agents; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, day.agents - from) }, (_, i) =>
        post(`${path}/agents/identities`, { agent_id: `agent-${from + i}`, name: `the agent ${from + i}` }),
      ),
    );
  const session = `${path}/sessions/${SESSION}`;
  const get = (name: string, of: string): WorstRequest => ({
    name: `${day.grains} grains of a session, ${day.partitions} partitions: ${name}`,
    method: 'GET',
    path: of,
  });
  return [
    get('bootstrap', `${session}/bootstrap`),
    get('goals', `${session}/goals?limit=500`),
    get('the tree of goals', `${session}/goals/tree`),
    get('blocked goals', `${session}/goals/blocked?limit=500`),
    get('actions', `${session}/actions?limit=500`),
    get('failed actions', `${session}/actions/failed?limit=500`),
    get('the summary of actions', `${session}/actions/summary`),
    get('a context', `${session}/context?token_budget=4000`),
    get('a large context', `${session}/context?token_budget=200000`),
    get('a large context as text', `${session}/context?token_budget=200000&format=text`),
    get('a large context for a query', `${session}/context?token_budget=200000&query=invoice`),
    {
      ...get('a consolidation', `${session}/consolidate`),
      method: 'POST',
      body: () => Buffer.from(JSON.stringify({ dry_run: true })),
    },
    {
      ...get('metrics', `${path}/app/exec`),
      method: 'POST',
      body: () => Buffer.from(JSON.stringify({ command: 'metrics', args: {} })),
    },
    get('agents', `${path}/agents?limit=500`),
    get('identities', `${path}/agents/identities?limit=500`),
  ];
}

/** Half actions, then goals and beliefs. The grains of a batch have one time. */
function grainOf(at: number): { readonly grain_type: string; readonly fields: object } {
  const session_id = SESSION;
  const word = WORDS[at % WORDS.length]!;
  if (at % 2 === 0) {
    const call = { tool_name: `tool-${at % 16}`, input: { at }, content: `the ${word} of case ${at}` };
    return { grain_type: 'action', fields: { session_id, is_error: at % 14 === 0, duration_ms: at % 900, ...call } };
  }
  if (at % 4 === 1)
    return { grain_type: 'goal', fields: { session_id, description: `close the ${word} of case ${at}` } };
  const fact = { subject: `case ${at}`, relation: 'concerns', object: `a ${word} of the customer ${at % 500}` };
  return { grain_type: 'belief', fields: { session_id, importance: (at % 10) / 10, ...fact } };
}
