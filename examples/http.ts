// Shows the memory of an agent over HTTP, with fetch alone: remember a text, store a batch that is safe to repeat, recall by
// words and by structure, and read an error.
//
// Start a server (`npm start`). Then, in another terminal, in the same folder, with Node 24:
//
//   export GRANARY_URL=http://127.0.0.1:8080 GRANARY_API_KEY=$(cat data/keys/bootstrap.key)
//   node examples/http.ts
//
// The example makes a memory of its own and deletes it at the end.
import { randomUUID } from 'node:crypto';

const { GRANARY_URL, GRANARY_API_KEY } = process.env;
if (!GRANARY_URL || !GRANARY_API_KEY) throw new Error('set GRANARY_URL and GRANARY_API_KEY');

/** The server's message about a failure. `code` is stable, `message` is for people. */
class GranaryError extends Error {
  readonly code: string;

  constructor(error: { readonly code: string; readonly message: string }) {
    super(error.message);
    this.code = error.code;
  }
}

/** Sends a request and returns the body of the answer. Throws a GranaryError for an error status. */
async function call<T>(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(`${GRANARY_URL}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${GRANARY_API_KEY}`, 'content-type': 'application/json', ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const answer = (await response.json()) as T & { readonly error: GranaryError };
  if (!response.ok) throw new GranaryError(answer.error);
  return answer;
}

async function recall(request: object): Promise<void> {
  interface Recalled {
    readonly results: readonly { readonly fields: Readonly<Record<string, string>> }[];
  }
  const { results } = await call<Recalled>('POST', `${M}/recall`, request);
  for (const { fields } of results) console.log(`  ${fields['subject']} ${fields['relation']} ${fields['object']}`);
}

const memory = `example-http-${randomUUID()}`;
const M = `/memories/${memory}`;
await call('POST', '/memories', { id: memory });
try {
  console.log('Remember a text. What it says plainly becomes beliefs:');
  const text = { text: 'I live in Paris and I work at Acme.', user_id: 'ada', extract_mode: 'sync' };
  const remembered = await call<{ extracted_count: number }>('POST', `${M}/remember`, text);
  console.log(`  ${remembered.extracted_count} beliefs`);

  console.log('Store a batch twice under one Idempotency-Key. The second call stores nothing:');
  const grains = ['tea', 'jazz', 'long walks'].map((object) => ({
    grain_type: 'belief',
    fields: { subject: 'Ada', relation: 'likes', object, user_id: 'ada' },
  }));
  const once = { 'idempotency-key': randomUUID() };
  const first = await call<{ total_added: number }>('POST', `${M}/batch-add`, { grains }, once);
  await call('POST', `${M}/batch-add`, { grains }, once);
  const stats = await call<{ type_counts: { belief: number } }>('GET', `${M}/stats`);
  console.log(`  ${first.total_added} added, ${stats.type_counts.belief} beliefs in the memory`);

  console.log('Recall by words:');
  await recall({ query: 'where does she live?', grain_type: 'belief', limit: 1 });
  console.log('Recall by structure:');
  await recall({ subject: 'Ada', relation: 'likes' });

  console.log('Ask for a grain that is not there. The error has a stable code:');
  await call('GET', `${M}/grains/${'0'.repeat(64)}`).catch(({ code }: GranaryError) => console.log(`  ${code}`));
} finally {
  await call('DELETE', M);
}
