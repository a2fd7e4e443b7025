// Grains with the maximum number of fields, in so many copies that a page of them ends for lack of room; and the
// requests whose answers are full of them.
import type { WorstRequest } from './worst.ts';

const MIB = 1_048_576;
const ANSWER_BYTES = 16 * MIB;
const FIELDS = 9_900;
const GRAIN_BYTES = 950_000;
/** More than an answer has room for. */
const GRAINS = Math.ceil(ANSWER_BYTES / GRAIN_BYTES) + 1;
const PARTITIONED = 'wide';

/** Posts JSON to a path below `/api` and returns the answer. */
export type Post = (path: string, json: unknown) => Promise<{ readonly [name: string]: unknown }>;

/** Each field is a short list: two more members. */
function wideFields(at: number): Record<string, unknown> {
  const words = 'some words '.repeat(6);
  const fields = Array.from({ length: FIELDS }, (_, i) => [`f${i}`, [i, `${at} ${words}`]]);
  return Object.fromEntries(fields);
}

/** Makes the grains, and the requests for them, which need their hashes. */
export async function wideRequests(post: Post, partitions: number, grains = GRAINS): Promise<readonly WorstRequest[]> {
  await post('/memories', { id: PARTITIONED, partitions });
  let hash: unknown;
  for (let at = 0; at < grains; at += 1) {
    const fields = { content: `apple ${at}`, session_id: `s${at}`, ...wideFields(at) };
    await post(`/memories/${PARTITIONED}/add`, { grain_type: 'event', fields });
    const version = { object: `v${at}`, ...wideFields(at) };
    const written =
      hash === undefined
        ? await post('/memories/default/add', {
            grain_type: 'belief',
            fields: { ...version, subject: 'wide', relation: 'is' },
          })
        : await post('/memories/default/supersede', { blob_hash: hash, fields: version });
    hash = written['blob_hash'];
  }
  const ask = (name: string, method: 'GET' | 'POST', path: string, body?: unknown): WorstRequest => ({
    name: `wide grains: ${name}`,
    method,
    path,
    ...(body === undefined ? {} : { body: () => Buffer.from(JSON.stringify(body)) }),
  });
  const exec = (name: string, memory: string, command: string, args: unknown): WorstRequest =>
    ask(name, 'POST', `/memories/${memory}/app/exec`, { command, args });
  return [
    ask('a page', 'GET', '/memories/default/grains?limit=500&include_superseded=true'),
    ask('one', 'GET', `/memories/default/grains/${hash}`),
    exec('a history', 'default', 'history', { hash }),
    exec('CAL of a history', 'default', 'cal', { query: `HISTORY sha256:${hash}` }),
    ask('a recall', 'POST', '/memories/default/recall', { subject: 'wide', limit: 500 }),
    ask('a page of several partitions', 'GET', `/memories/${PARTITIONED}/grains?limit=500`),
    ask('a recall of several partitions', 'POST', `/memories/${PARTITIONED}/recall`, { query: 'apple', limit: 500 }),
    ask('a search of several partitions', 'POST', `/memories/${PARTITIONED}/search`, { query: 'apple', limit: 500 }),
    ask('a recall with stages', 'POST', `/memories/${PARTITIONED}/recall`, {
      query: 'apple',
      limit: 500,
      deduplicate: true,
      diversity_lambda: 0.5,
    }),
    exec('CAL of several partitions', PARTITIONED, 'cal', { query: 'RECALL events LIMIT 100' }),
  ];
}
