// Shows how CAL assembles the context of a prompt: what is known of a person, their open goals and the last turns of the
// conversation, within a budget of tokens, as text for a language model.
//
// Start a server (`npm start`). Then, in another terminal, in the same folder, with Node 24:
//
//   export GRANARY_URL=http://127.0.0.1:8080 GRANARY_API_KEY=$(cat data/keys/bootstrap.key)
//   node examples/cal.ts
//
// docs/cal.md describes the language. The example makes a memory of its own and deletes it at the end.
import { randomUUID } from 'node:crypto';

const { GRANARY_URL, GRANARY_API_KEY } = process.env;
if (!GRANARY_URL || !GRANARY_API_KEY) throw new Error('set GRANARY_URL and GRANARY_API_KEY');

/** Sends a request and returns the body of the answer. Throws for an error status. */
async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${GRANARY_URL}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${GRANARY_API_KEY}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
}

interface Assembled {
  readonly content: string;
  readonly sources: readonly { readonly label: string; readonly grain_count: number; readonly truncated: boolean }[];
  readonly budget: { readonly used: number; readonly total: number };
}

const NOW_SECONDS = Math.floor(Date.now() / 1000);
const belief = (relation: string, object: string) => ({
  grain_type: 'belief',
  fields: { subject: 'Ada', relation, object, user_id: 'ada' },
});
const turn = (role: string, content: string, minutesAgo: number) => ({
  grain_type: 'event',
  fields: { role, content, session_id: 'today', user_id: 'ada', created_at: NOW_SECONDS - minutesAgo * 60 },
});
const goal = (description: string, goal_state: string) => ({
  grain_type: 'goal',
  fields: { subject: 'Ada', description, goal_state, user_id: 'ada' },
});

const memory = `example-cal-${randomUUID()}`;
const M = `/memories/${memory}`;
await call('POST', '/memories', { id: memory });
try {
  const grains = [
    belief('lives_in', 'Paris'),
    belief('eats', 'no meat'),
    goal('plan a dinner for six', 'active'),
    goal('renew the passport', 'satisfied'),
    turn('user', 'Six people are coming on Saturday.', 3),
    turn('assistant', 'Shall I suggest a menu?', 2),
    turn('user', 'Yes, please.', 1),
  ];
  const { errors } = await call<{ errors: readonly { error: string }[] }>('POST', `${M}/batch-add`, { grains });
  if (errors[0] !== undefined) throw new Error(errors[0].error);

  const query = `
    ASSEMBLE FOR "suggest a menu"
      FROM facts: (RECALL beliefs ABOUT "Ada"),
           goals: (RECALL goals WHERE goal_state = "active"),
           said: (RECALL events THREAD "today")
      BUDGET 120 tokens PRIORITY facts > goals > said
      FORMAT markdown`;
  const command = { command: 'cal', args: { query } };
  const { result } = await call<{ result: { result: Assembled } }>('POST', `${M}/app/exec`, command);
  const { content, sources, budget } = result.result;

  console.log(`${content}\n`);
  for (const { label, grain_count, truncated } of sources)
    console.log(`${label}: ${grain_count} found room${truncated ? ', others did not' : ''}`);
  console.log(`${budget.used} of ${budget.total} tokens used`);
} finally {
  await call('DELETE', M);
}
