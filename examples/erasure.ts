// Shows the erasure of a person with a proof that is checked without the server: store, erase, recompute the audit trail,
// find the proof in it, and see that nothing of the person is found any more.
//
// Start a server (`npm start`). Then, in another terminal, in the same folder, with Node 24:
//
//   export GRANARY_URL=http://127.0.0.1:8080 GRANARY_API_KEY=$(cat data/keys/bootstrap.key)
//   node examples/erasure.ts
//
// docs/erasure.md and docs/trail.md say more. The example makes a memory of its own and deletes it at the end.
import { createHash, randomUUID } from 'node:crypto';

const { GRANARY_URL, GRANARY_API_KEY } = process.env;
if (!GRANARY_URL || !GRANARY_API_KEY) throw new Error('set GRANARY_URL and GRANARY_API_KEY');

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${GRANARY_API_KEY}`, 'content-type': 'application/json' };
  const request = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
  const response = await fetch(`${GRANARY_URL}/api${path}`, request);
  const answer = (await response.json()) as T & { readonly error: Error };
  if (!response.ok) throw new Error(answer.error.message);
  return answer;
}

interface Entry {
  readonly seq: number;
  readonly timestamp: number;
  readonly event_type: string;
  readonly actor: string;
  readonly subject: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly hash: string;
}

/** SHA-256 over two numbers of 8 bytes and five texts, each behind its length in 4 bytes. */
function entryHash({ seq, timestamp, event_type, actor, details }: Entry, subject: string, previous: string): string {
  const sorted = Object.fromEntries(Object.entries(details).sort(([a], [b]) => (a < b ? -1 : 1)));
  const hash = createHash('sha256');
  for (const number of [seq, timestamp]) hash.update(number.toString(16).padStart(16, '0'), 'hex');
  for (const text of [event_type, actor, subject, JSON.stringify(sorted), previous])
    hash.update(Buffer.byteLength(text).toString(16).padStart(8, '0'), 'hex').update(text);
  return hash.digest('hex');
}

const M = `/memories/example-erasure-${randomUUID()}`;
const add = (subject: string, user_id: string) =>
  call<{ blob_hash: string }>('POST', `${M}/add`, { subject, relation: 'drinks', object: 'tea', user_id });
const trail = async () => (await call<{ entries: Entry[] }>('GET', `${M}/audit?order=asc`)).entries;
const found = async () => (await call<{ count: number }>('POST', `${M}/recall`, { query: 'tea' })).count;

await call('POST', '/memories', { id: M.slice('/memories/'.length) });
try {
  const { blob_hash } = await add('Ada', 'ada');
  await add('Ben', 'ben');
  console.log(`Grains about tea before: ${await found()}`);
  const before = await trail(); // An auditor's copy. It names Ada by a token, which the trail shows until she is erased.

  const proof = await call<Readonly<Record<string, unknown>>>('POST', `${M}/forget`, { user_id: 'ada' });
  console.log('Proof of the erasure:', proof);
  const after = await trail();

  // The check needs no server. The hashes cover Ada's token, in whose place the trail now shows her key's fingerprint.
  const token = before.find(({ event_type }) => event_type === 'memory.added')?.subject ?? '';
  const isWhole = (entries: readonly Entry[]): boolean => {
    let previous = '0'.repeat(64);
    return entries.every((entry, i) => {
      const subject = entry.subject === `erased:${proof['key_fingerprint']}` ? token : entry.subject;
      previous = entryHash(entry, subject, previous);
      return previous === entry.hash && (before[i]?.hash ?? previous) === previous;
    });
  };
  const entry = after.find(({ hash }) => hash === proof['audit_entry_hash']);
  console.log(`The trail of ${after.length} entries is whole: ${isWhole(after)}`);
  console.log(`One entry less, and it is not: ${isWhole(after.toSpliced(1, 1))}`);
  console.log(`The proof is entry ${entry?.seq}: ${entry?.event_type}, ${JSON.stringify(entry?.details)}`);

  console.log(`Grains about tea after: ${await found()}`);
  await call('GET', `${M}/grains/${blob_hash}`).catch(({ message }: Error) => console.log(`By its hash: ${message}`));
} finally {
  await call('DELETE', M);
}
