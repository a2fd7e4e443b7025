// Runs the programs in examples/, each in a separate process, against one server.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from './support/server.ts';
import { ask } from './support/server-process.ts';

const FOLDER = join(import.meta.dirname, '../examples');
const PROGRAMS = readdirSync(FOLDER).filter((name) => name !== 'README.md');
const LINES_MAX = 80;
const RUN_MS_MAX = 120_000;

let server: TestServer;

before(async () => {
  server = await startTestServer();
});

after(() => server.close());

/** The program's output. Fails the test unless it ends with exit code 0. */
async function run(name: string): Promise<string> {
  const program = name.endsWith('.sh') ? 'sh' : process.execPath;
  const env = { ...process.env, GRANARY_URL: server.http, GRANARY_API_KEY: server.key };
  const child = spawn(program, [join(FOLDER, name)], { env, timeout: RUN_MS_MAX });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  assert.equal(child.exitCode, 0, `${name} printed:\n${stdout}${stderr}`);
  assert.equal(stderr, '', name);
  return stdout;
}

const linesOf = (output: string): string[] => output.trimEnd().split('\n');

test('each is listed in the README and short, and says at its top how to run it', () => {
  const readme = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  const listed = [...readme.matchAll(/^\| \[(\S+)\]/gm)].map((match) => match[1]);
  assert.deepEqual(listed.toSorted(), PROGRAMS.toSorted());
  for (const name of PROGRAMS) {
    const source = readFileSync(join(FOLDER, name), 'utf8');
    assert.ok(linesOf(source).length <= LINES_MAX, `${name} has more than ${LINES_MAX} lines`);
    const comment = /^(?:#!.*\n)?((?:(?:#|\/\/).*\n)+)/.exec(source)?.[1] ?? '';
    assert.match(comment, /^(?:#|\/\/) Shows /, name);
    for (const word of ['GRANARY_URL=', 'GRANARY_API_KEY=', `examples/${name}`])
      assert.ok(comment.includes(word), name);
  }
});

test('curl.sh finds the belief, then its new version, and keeps the old one', async (t) => {
  if (spawnSync('curl', ['--version']).error !== undefined) return t.skip('curl is not installed');
  const output = await run('curl.sh');
  const objects = linesOf(output).flatMap((line) => /^"fields":.*"object":"([^"]+)"/.exec(line)?.[1] ?? []);
  assert.deepEqual(objects, ['light mode', 'dark mode', 'light mode']);
  assert.match(output, /"status":"added"/);
  assert.match(output, /"status":"superseded"/);
});

test('http.ts remembers, adds once, recalls and reads an error', async () => {
  const answers = linesOf(await run('http.ts')).filter((line) => line.startsWith('  '));
  const [extracted, added, byWords, ...rest] = answers.map((line) => line.trim());
  assert.equal(extracted, '2 beliefs');
  assert.equal(added, '3 added, 5 beliefs in the memory');
  assert.equal(byWords, 'ada lives_in Paris');
  assert.deepEqual(rest.slice(0, 3).toSorted(), ['Ada likes jazz', 'Ada likes long walks', 'Ada likes tea']);
  assert.deepEqual(rest.slice(3), ['MEM-E001']);
});

test('grpc.ts adds, recalls and reads an error from the trailers', async () => {
  const answers = linesOf(await run('grpc.ts')).filter((line) => line.startsWith('  '));
  const [hash, ...rest] = answers.map((line) => line.trim());
  assert.match(hash ?? '', /^[0-9a-f]{64}$/);
  assert.deepEqual(rest, ['stored', 'stored', 'MEM-E005', 'The meeting moved to Friday.', 'NOT_FOUND MEM-E001']);
});

test('cal.ts prints the context of a prompt, in the order of its sources and within its budget', async () => {
  const output = await run('cal.ts');
  const [context = '', account = ''] = output.split(/\n\n(?=facts: )/);
  assert.deepEqual(
    [...context.matchAll(/^\*\*(\w+)\*\*$/gm)].map((match) => match[1]),
    ['Beliefs', 'Goals', 'Events'],
  );
  assert.match(context, /- Ada eats no meat/);
  assert.match(context, /plan a dinner for six \(active\)/);
  assert.doesNotMatch(context, /passport/);
  const turns = [...context.matchAll(/^- (user|assistant): (.*) \(\dm ago\)$/gm)].map((match) => match[2]);
  assert.deepEqual(turns, ['Six people are coming on Saturday.', 'Shall I suggest a menu?', 'Yes, please.']);
  const [, used, total] = /^(\d+) of (\d+) tokens used$/m.exec(account) ?? [];
  assert.ok(Number(used) > 0 && Number(used) <= Number(total), account);
});

test('erasure.ts checks the proof, and finds nothing of the erased person', async () => {
  const output = await run('erasure.ts');
  assert.match(output, /^Grains about tea before: 2$/m);
  assert.match(output, /^ {2}count: 1,$/m);
  assert.match(output, /^The trail of 7 entries is whole: true$/m);
  assert.match(output, /^One entry less, and it is not: false$/m);
  assert.match(output, /^The proof is entry 6: user\.erased, \{"count":1,/m);
  assert.match(output, /^Grains about tea after: 1$/m);
  assert.match(output, /^By its hash: MEM-E006: /m);
});

test('they leave nothing behind', async () => {
  const { body } = await ask(server, 'GET', '/memories');
  assert.deepEqual(
    body.memories.map(({ id }: { readonly id: string }) => id),
    ['default'],
  );
  const stats = await ask(server, 'GET', '/memories/default/stats');
  assert.equal(stats.body.total_grains, 0);
});
