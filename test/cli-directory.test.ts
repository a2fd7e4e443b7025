// Commands without a running server: they open the data directory themselves. Backups and restores, damage, locks.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { granary, granaryJson, serve } from './support/cli.ts';
import { temporaryDirectory } from './support/temporary.ts';

interface Hits {
  readonly results: readonly { readonly fields: Readonly<Record<string, unknown>> }[];
}

async function subjects(data: string, words: string): Promise<unknown[]> {
  const { results } = (await granaryJson(['recall', words, '--data-dir', data])) as unknown as Hits;
  return results.map(({ fields }) => fields['subject']).sort();
}

test('health asks a running server, and opens no data directory', async (t) => {
  const data = join(temporaryDirectory(t), 'data');
  const server = await serve(data);
  t.after(() => server.stop());
  const here = ['health', '--data-dir', data];
  assert.equal((await granaryJson(here))['status'], 'ok');
  assert.equal(await server.stop(), 0);
  const { code, stderr } = await granary(here);
  assert.deepEqual(
    [code, stderr],
    [1, `granary: NO-SERVER: no server is running on ${data}: start one (granary serve)\n`],
  );
});

test('data removed since a backup stays removed when it is restored', async (t) => {
  const directory = temporaryDirectory(t);
  const [data, fresh, copy] = ['data', 'fresh', 'copy'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const server = await serve(data);
  t.after(() => server.stop());
  const here = (...words: string[]): string[] => [...words, '--data-dir', data];
  const say = (...names: string[]): Promise<unknown> => {
    // A fixed time: repeating a grain gives the same grain.
    const grains = names.map((subject) => ({ subject, relation: 'likes', object: 'tea', created_at: 1_700_000_000 }));
    const lines = grains.map((grain) =>
      JSON.stringify({ ...grain, ...(grain.subject < 'c' ? { user_id: grain.subject } : {}) }),
    );
    return granaryJson(here('import', '-'), 0, lines.join('\n'));
  };
  const [key] = await Promise.all([
    granaryJson(here('keys', 'create', '--name', 'late')),
    say('ada', 'bob', 'carl', 'dora'),
    granaryJson(here('memories', 'create', 'gone')),
  ]);
  await granaryJson(here('backup', copy));
  await Promise.all([
    granaryJson(here('forget', '--user', 'ada', '--yes')),
    granaryJson(here('forget', '--subject', 'carl', '--yes')),
    granaryJson(here('forget', '--subject', 'dora', '--yes')),
    granaryJson(here('memories', 'delete', 'gone', '--yes')),
    granaryJson(here('keys', 'revoke', String(key['key_id']))),
  ]);
  // Forgotten and added again: it exists today, so it must exist after the restore.
  await say('dora', 'eve');
  assert.equal(await server.stop(), 0);

  const unsure = await granary(here('restore', copy));
  assert.equal(unsure.code, 2);
  assert.match(unsure.stderr, /^granary: USAGE: .* holds a deployment: give --yes/);
  const report = await granaryJson(['restore', copy, '--data-dir', data, '--yes']);
  assert.deepEqual(report, {
    data_dir: resolve(data),
    kept_erased_users: 1,
    kept_erased_scopes: 0,
    kept_forgotten_grains: 1,
    kept_deleted_memories: 1,
    kept_revoked_keys: 1,
    warnings: [],
  });
  assert.ok(!existsSync(join(data, 'restore.new')));
  const again = await serve(data);
  t.after(() => again.stop());
  assert.deepEqual(await subjects(data, 'likes tea'), ['bob', 'dora']);
  const verified = await granaryJson(here('verify'));
  assert.equal(verified['finding_count'], 0);
  const { memories } = (await granaryJson(here('memories'))) as { memories: readonly { id: string }[] };
  assert.deepEqual(
    memories.map(({ id }) => id),
    ['default'],
  );

  // Without a record of later changes, the backup is restored as it was; keys may be elsewhere.
  await granaryJson(['restore', copy, '--data-dir', fresh, '--keys', join(copy, 'keys')]);
  assert.deepEqual(await subjects(fresh, 'likes tea'), ['ada', 'bob', 'carl', 'dora']);
});

test('without a server a command opens the directory while it runs', async (t) => {
  const data = join(temporaryDirectory(t), 'data');
  const nothing = await granary(['recall', 'tea', '--data-dir', data]);
  assert.equal(nothing.code, 1);
  assert.match(nothing.stderr, /^granary: NO-SERVER: no server is running and there is no data in /);
  assert.ok(!existsSync(data));
  const lines = ['{"text":"tea in the morning"}', '{"text":"coffee at night"}'].join('\n');
  const made = await granary(['import', '-', '--data-dir', data], { input: lines });
  assert.deepEqual([made.code, made.stderr], [0, `Created a new data directory: ${data}\n`]);
  assert.match(made.stdout, /^added +2$/m);
  const [hit, ...rest] = ((await granaryJson(['recall', 'tea', '--data-dir', data])) as unknown as Hits).results;
  assert.deepEqual([hit?.fields['content'], rest.length], ['tea in the morning', 0]);
  assert.ok(!existsSync(join(data, 'server.json')));
  // Rejected before the directory is opened: an open server would have kept the command from ending.
  const untrusted = await granary(['recall', 'tea', '--data-dir', data, '--tls-ca', join(data, 'nothing')]);
  assert.equal(untrusted.code, 1);
  assert.match(untrusted.stderr, /^granary: FILE: /);
  // An unreachable server given by name is not replaced by the directory.
  const named = await granary(['recall', 'tea', '--data-dir', data, '--url', '127.0.0.1:1']);
  assert.equal(named.code, 1);
});

test('verify finds a changed byte, other commands continue, and the index is repaired', async (t) => {
  const data = join(temporaryDirectory(t), 'data');
  const lines = Array.from({ length: 60 }, (_, n) =>
    JSON.stringify({ text: `note ${n} of the harbour master`, user_id: 'u' }),
  );
  await granaryJson(['import', '-', '--data-dir', data], 0, lines.join('\n'));
  const segment = ['shard-0', 'shard-1']
    .map((shard) => join(data, shard, 'segments'))
    .flatMap((folder) => (existsSync(folder) ? filesUnder(folder) : []))[0];
  assert.ok(segment !== undefined, 'closing the directory sealed a segment');
  const bytes = readFileSync(segment);
  bytes[Math.floor(bytes.length / 2)]! ^= 1;
  writeFileSync(segment, bytes);
  const server = await serve(data);
  t.after(() => server.stop());
  const damaged = await granary(['verify', '--data-dir', data]);
  assert.equal(damaged.code, 1);
  assert.match(damaged.stdout, /^findings +[1-9]/m);
  assert.match(damaged.stdout, /shard [01] +segment/);
  const rebuilt = await granaryJson(['rebuild-indexes', '--data-dir', data]);
  assert.equal(rebuilt['grains_scanned'], 60);
  const mended = await granaryJson(['verify', '--data-dir', data]);
  assert.equal(mended['finding_count'], 0);
});

test('bench gets its own arguments, and the codec needs no server', async (t) => {
  const directory = temporaryDirectory(t);
  mkdirSync(join(directory, 'empty'));
  const line = { grain_type: 'reasoning', fields: { created_at: 1768471200000, conclusion: 'café' } };
  const encoded = await granary(['grain', 'encode'], { input: JSON.stringify(line), cwd: join(directory, 'empty') });
  const { blob_hex, hash } = JSON.parse(encoded.stdout) as { blob_hex: string; hash: string };
  const decoded = await granary(['grain', 'decode'], { input: JSON.stringify({ blob_hex }) });
  assert.deepEqual([(JSON.parse(decoded.stdout) as { hash: string }).hash, decoded.code], [hash, 0]);
  assert.deepEqual(readdirSync(join(directory, 'empty')), []);
  // bench is a separate process with its own arguments, help and exit code.
  const [help, wrong] = await Promise.all([granary(['bench', '--help']), granary(['bench', '--no-such-word'])]);
  assert.ok(help.stdout.length + help.stderr.length > 0);
  assert.notEqual(wrong.code, 0);
});

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
