// The erasure of a person or a scope while documents of that person wait to be imported and while they are imported.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { HttpClient } from '../conformance/http-client.ts';
import { newMemory } from '../conformance/http-driver.ts';
import { formsIn } from '../support/encoded-forms.ts';
import { EventClient } from '../support/event-stream.ts';
import { memoryFolder } from '../support/memory-files.ts';
import { startTestServer } from '../support/server.ts';

const TEXT = 'Zqdökumentwordhkp';
const FILE = 'zqdateiñamewordhkp';
const PERSON = 'zqpersönwordhkp';
const WORDS = [TEXT, FILE, PERSON];
const LINES = 4_000;
/** Tries to look while one import waits and another one stores. */
const ROUNDS_MAX = 5;

/** None for a file that a merge of segments has removed since it was listed. */
function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** The files that hold one of the words in any form, each as `word in file as form`. */
function findsIn(directory: string, words: readonly string[]): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .flatMap((file) => {
      const bytes = bytesOf(file);
      return words.flatMap((word) => formsIn(bytes, word).map((form) => `${word} in ${file} as ${form}`));
    });
}

const FORGET = { command: 'forget_user', args: { user_id: PERSON } };
const ERASE = { scope_path: PERSON };

for (const { what, route, erase, member, partitions, extract } of [
  { what: 'person', route: '/app/exec', erase: FORGET, member: 'user_id', partitions: 1, extract: false },
  { what: 'scope', route: '/scope-erase', erase: ERASE, member: 'namespace', partitions: 1, extract: false },
  { what: 'person', route: '/app/exec', erase: FORGET, member: 'user_id', partitions: 4, extract: true },
  { what: 'scope', route: '/scope-erase', erase: ERASE, member: 'namespace', partitions: 4, extract: true },
])
  test(`an erasure of a ${what} ends its waiting and its running imports, and leaves no word of them: ${partitions} partitions, extract ${extract}`, async () => {
    const dataDir = memoryFolder();
    const server = await startTestServer({ dataDir, shards: '4' });
    // An extraction of facts takes several times as long as the chunks.
    const lines = extract ? LINES / 4 : LINES;
    // Each import has facts of its own: those of an earlier one would not count as extracted.
    const textOf = (name: string): string =>
      Array.from({ length: lines }, (_, at) => `Ada lives in ${TEXT} ${name}-${at}.`).join('\n\n');
    const query = `${member}=${encodeURIComponent(PERSON)}&extract=${extract}`;
    try {
      const http = new HttpClient(server.http, server.key);
      const path = `/memories/${await newMemory(http, partitions, {})}`;
      const importing = async (text: string, name: string, rest: string): Promise<string> => {
        const body = new FormData();
        body.append('file', new Blob([text]), name);
        return (await http.call('POST', `${path}/imports?chunk_size=200&${rest}`, { body })).job_id;
      };
      const ids: string[] = [];
      const jobs = async () =>
        (await http.get(`${path}/imports`)).jobs as {
          status: string;
          processed_chunks: number;
          extracted_count: number;
        }[];
      const waitsAndRuns = (all: Awaited<ReturnType<typeof jobs>>): boolean =>
        all.some(({ status }) => status === 'queued') &&
        all.some((job) => job.status === 'running' && (extract ? job.extracted_count : job.processed_chunks) > 0);
      // A busy machine may look too late, when no import waits any more: then further ones are sent.
      let seen: Awaited<ReturnType<typeof jobs>> = [];
      for (let round = 0; round < ROUNDS_MAX && !waitsAndRuns(seen); round++) {
        for (let at = 0; at < 4; at++) ids.push(await importing(textOf(`${round}-${at}`), `${FILE}.txt`, query));
        do seen = await jobs();
        while (!waitsAndRuns(seen) && seen.some(({ status }) => status === 'queued'));
      }
      assert.ok(waitsAndRuns(seen), 'one import waits and one stores');
      const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
      assert.ok(
        files.some((file) => ids.includes(basename(file))),
        'an upload lies on disk',
      );
      assert.deepEqual(findsIn(dataDir, [TEXT]), [], 'uploads are sealed');

      await http.post(`${path}${route}`, erase);
      assert.equal((await http.get(`${path}/imports`)).total, 0);
      assert.equal((await http.get(`${path}/stats`)).total_grains, 0);
      assert.deepEqual((await http.get(`${path}/grains?include_superseded=true`)).grains, []);

      // A job that still ran would store beside this one.
      const other = await importing('Bob is here.', 'bob.txt', 'user_id=bob');
      const stream = await EventClient.open(`${server.http}/api${path}/imports/${other}/stream`, {
        authorization: `Bearer ${server.key}`,
      });
      await stream.ended();
      assert.equal(stream.frames.at(-1)?.event, 'completed');
      assert.equal((await http.get(`${path}/stats`)).total_grains, 1);
      assert.deepEqual(findsIn(dataDir, WORDS), []);
    } finally {
      await server.close();
      assert.deepEqual(findsIn(dataDir, WORDS), []);
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
