// Commands against a server in another process: output as JSON and for people, and exit codes. Tests of standard input, of
// addresses and of usage errors start a process for each command.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { EVENT_KINDS } from '../src/engine/govern/trail/event-kinds.ts';
import { granaryJson as granaryJsonOfProcess, granary as granaryProcess, servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';
import { startOpenAi } from './support/models/openai.ts';

const CHATS = resolve(import.meta.dirname, '../../shared/data/beam100k/corpus.jsonl');

const { directory, server, here } = servedForFile({ byCommand: true });

function file(name: string, lines: readonly unknown[]): string {
  const path = join(directory, name);
  writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
}

interface Shown {
  readonly hash: string;
  readonly grain_type: string;
  readonly relevance?: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

async function recalled(memory: string, ...words: string[]): Promise<readonly Shown[]> {
  const answer = await granaryJson(here('recall', ...words, '-m', memory));
  return answer['results'] as Shown[]; // what recall prints
}

test('a grain is added, found, shown, followed through its versions, and forgotten', async () => {
  const { hash } = await granaryJson(here('add', 'ada', 'likes', 'green tea', '--user', 'ada', '--tag', 'taste'));
  assert.match(String(hash), /^[0-9a-f]{64}$/);
  const [shown, versions, people, event] = await Promise.all([
    granaryJson(here('get', String(hash))),
    granaryJson(here('history', String(hash))),
    granary(here('recall', 'what does ada drink: tea?')),
    granary(here('add', '--type', 'event', 'Met Ada at the station', '--user', 'ada')),
  ]);
  const { grain_type, fields } = shown as unknown as Shown;
  assert.deepEqual([grain_type, fields['object'], fields['tags']], ['belief', 'green tea', ['taste']]);
  assert.equal((versions['versions'] as Shown[])[0]?.hash, hash);
  assert.equal(people.code, 0);
  assert.match(people.stdout, /ada likes green tea/);
  assert.ok(people.stdout.includes(String(hash).slice(0, 12)));
  assert.match(event.stdout, /^[0-9a-f]{64}\n$/);
  const words = await granaryJson(here('search', 'station', 'ada'));
  assert.equal((words['results'] as Shown[])[0]?.hash, event.stdout.trim());
  const forgotten = await granaryJson(here('forget', String(hash), '0'.repeat(64), '--yes'), 1);
  assert.deepEqual([forgotten['deleted'], forgotten['not_found']], [1, ['0'.repeat(64)]]);
  const refused = await granary(here('forget', '--user', 'ada'));
  assert.equal(refused.code, 2);
  assert.match(refused.stdout, /^1 grain would be removed\.\nevent +1\noldest +\d{4}-/);
  assert.match(refused.stderr, /Nothing was removed\. A removal is permanent: give --yes to carry it out\./);
  const proof = join(directory, 'proof.json');
  const erased = await granaryJson(here('forget', '--user', 'ada', '--yes', '--proof', proof));
  assert.equal(erased['count'], 1);
  assert.match(String(erased['key_fingerprint']), /^[0-9a-f]{16}$/);
  const signed = JSON.parse(readFileSync(proof, 'utf8')) as Record<string, unknown>;
  for (const name of ['user_id', 'count', 'key_fingerprint', 'timestamp', 'audit_entry_hash'])
    assert.equal(signed[name], erased[name], name);
  assert.deepEqual([signed['memory'], signed['version'], signed['result']], ['default', 2, 'erased']);
  // An existing proof is not overwritten, and without a proof nothing is erased.
  const twice = await granary(here('forget', '--user', 'bob', '--yes', '--proof', proof));
  assert.match(twice.stderr, /^granary: FILE: cannot write the proof/);
  assert.deepEqual(JSON.parse(readFileSync(proof, 'utf8')), signed);
});

test('scopes are set, shown and erased, with the proof in a file', async () => {
  await granaryJson(here('memories', 'create', 'scoped'));
  const tree = { name: 'org', children: [{ name: 'acme', children: [{ name: 'prod' }] }] };
  const none = await granary(here('scopes', '-m', 'scoped'));
  assert.match(none.stderr, /^granary: SCP-E003/);
  const set = await granary(here('scopes', 'set', file('tree.json', [tree]), '-m', 'scoped'));
  assert.deepEqual([set.code, set.stdout], [0, 'org\n  acme\n  acme/prod\n']);
  for (const namespace of ['acme', 'acme/prod'])
    await granaryJson(here('add', 'ada', 'likes', 'tea', '--namespace', namespace, '-m', 'scoped'));
  const refused = await granary(here('add', 'ada', 'likes', 'tea', '--namespace', 'acme/none', '-m', 'scoped'));
  assert.match(refused.stderr, /^granary: SCP-E001/);
  assert.equal((await granary(here('scopes', 'erase', 'acme', '-m', 'scoped'))).code, 2);
  const proof = join(directory, 'scope-proof.json');
  const erased = await granaryJson(here('scopes', 'erase', 'acme', '--yes', '--proof', proof, '-m', 'scoped'));
  assert.deepEqual([erased['scopes_erased'], erased['count']], [2, 2]);
  assert.deepEqual(JSON.parse(readFileSync(proof, 'utf8')), erased['signed_proof']);
  assert.equal((erased['signed_proof'] as { scope_path: string }).scope_path, 'acme'); // the contract: an object
  const gone = await granary(here('scopes', 'delete', '-m', 'scoped'));
  assert.equal(gone.code, 0);
});

test('recall explains why each hit is there and what was left out, for people and as JSON', async () => {
  for (const [object, namespace] of [
    ['violins', 'music'],
    ['violin strings', 'music'],
    ['a violin case', 'home'],
  ] as const)
    await granaryJson(here('add', 'ines', 'sells', object, '--namespace', namespace));
  const words = ['recall', 'who sells a violin', '--namespace', 'music', '-n', '1', '--explain'];
  const [people, json] = await Promise.all([granary(here(...words)), granaryJson(here(...words))]);
  assert.equal(people.code, 0, people.stderr);
  assert.match(people.stdout, /^1\. {3}found by words \(rank 1\)/m);
  assert.match(people.stdout, /matches sells, violins?; relevance [01]\.\d{2}$/m);
  assert.match(people.stdout, /Score 0\.\d{3}: 0\.\d{3} for its words/);
  assert.match(
    people.stdout,
    /Left out: (?:1 of another namespace; 1 over the limit|1 over the limit; 1 of another namespace)\./,
  );
  assert.deepEqual(json['excluded'], { namespace_mismatch: 1, limit_exceeded: 1 });
  const [hit] = json['results'] as { explanation: string; score: number; score_breakdown: { final_score: number } }[];
  assert.equal(hit!.score_breakdown.final_score, hit!.score);
  const nothing = await granary(here('recall', 'violins last 7 days', '--type', 'goal', '--explain'));
  assert.match(nothing.stdout, /Nothing was found\.\n\nLeft out: 3 of another type\./);
});

test('recall --json has the relevance of a hit by words, and none by structure alone', async () => {
  await granaryJson(here('memories', 'create', 'clocks'));
  await granaryJson(here('add', 'olaf', 'repairs', 'clocks', '-m', 'clocks'));
  const [asked, bySubject] = await Promise.all([
    recalled('clocks', 'who repairs clocks'),
    recalled('clocks', '--subject', 'olaf'),
  ]);
  const [{ relevance } = assert.fail('the grain is found')] = asked;
  assert.ok(typeof relevance === 'number' && relevance > 0 && relevance <= 1, `relevance is ${relevance}`);
  assert.deepEqual(
    bySubject.map((hit) => 'relevance' in hit),
    [false],
  );
});

test('a text is remembered: --sync prints its beliefs, otherwise they follow the answer', async () => {
  const words = ['I live in Paris and I work at Acme.', '--user', 'grace'];
  const shown = await granary(here('remember', ...words, '--sync'));
  assert.equal(shown.code, 0);
  assert.match(
    shown.stdout,
    /^[0-9a-f]{64}\n[0-9a-f]{12} {2}grace lives_in Paris\n[0-9a-f]{12} {2}grace works_at Acme\n$/,
  );
  const later = await granaryJson(here('remember', 'I like tea.', '--session', 's1'));
  assert.deepEqual([later['mode'], later['marker_status'], later['extracted_count']], ['async', 'pending', 0]);
  const dropped = await granaryJson(
    here('remember', 'We met in June 2020.', '--sync', '--drop-source', '--event-date'),
  );
  assert.equal(dropped['source_forgotten'], true);
  const empty = await granary(here('remember', ' '));
  assert.deepEqual([empty.code, empty.stdout], [1, '']);
  assert.match(empty.stderr, /^granary: VAL-E003/);
});

test('a transcript keeps its order, ids and sessions; turns with only a date get consecutive seconds', async () => {
  const said = { conv: 'c1', session: 2, time: 'March-15-2024' };
  const path = file('chat.jsonl', [
    { _id: 'a', ...said, role: 'user', text: 'first about the harbour' },
    { _id: 'b', ...said, role: 'assistant', content: 'second about the harbour' },
    { _id: 'c', ...said, role: 'human', text: 'third about the harbour', time: '2024-03-16T10:00:00Z' },
  ]);
  const report = await granaryJson(here('import', path, '--memory', 'chat'));
  assert.deepEqual([report['added'], report['duplicates'], report['errors']], [3, 0, 0]);
  const turns = (await recalled('chat', 'harbour')).map(({ fields }) => fields);
  turns.sort((one, other) => Number(one['created_at']) - Number(other['created_at']));
  const day = Date.UTC(2024, 2, 15) / 1000;
  assert.deepEqual(
    turns.map(({ _id, role, created_at }) => [_id, role, created_at]),
    [
      ['a', 'user', day],
      ['b', 'assistant', day + 1],
      ['c', 'user', Date.UTC(2024, 2, 16, 10) / 1000],
    ],
  );
  assert.deepEqual(new Set(turns.map(({ session_id }) => session_id)), new Set(['c1/2']));
  const within = await recalled('chat', 'harbour', '--when', 'between 2024-03-16 and 2024-03-17');
  assert.deepEqual(
    within.map(({ fields }) => fields['_id']),
    ['c'],
  );
  assert.deepEqual(await recalled('chat', 'harbour last 7 days'), []);
  assert.equal((await recalled('chat', 'harbour last 7 days', '--no-time-phrase')).length, 3);
});

test('bad lines are reported, and the others imported; a second import finds duplicates', async () => {
  const path = file('mixed.jsonl', [
    { grain_type: 'belief', fields: { subject: 'a', relation: 'is', object: 'b' } },
    'not json',
    '',
    { subject: 'c', relation: 'is', object: 'd' },
    { grain_type: 'belief', fields: { subject: 'a' } },
    { text: 'a note', title: 'A title', time: '2024-05-01' },
  ]);
  const errors = join(directory, 'errors.jsonl');
  const dry = await granaryJson(here('import', path, '--memory', 'mixed', '--dry-run'), 1);
  assert.deepEqual([dry['added'], dry['errors'], dry['dry_run']], [3, 2, true]);
  const first = await granaryJson(here('import', path, '--memory', 'mixed', '--errors', errors), 1);
  assert.deepEqual([first['added'], first['duplicates'], first['errors']], [3, 0, 2]);
  const named = (first['first_errors'] as { line: number; code: string }[]).map(({ line, code }) => [line, code]);
  assert.deepEqual(named, [
    [2, 'VAL-E002'],
    [5, 'VAL-E003'],
  ]);
  assert.equal(readFileSync(errors, 'utf8').trim().split('\n').length, 2);
  const again = await granary(here('import', path, '--memory', 'mixed'));
  assert.equal(again.code, 1);
  assert.match(again.stdout, /^added +0\nduplicates +3\nerrors +2$/m);
  assert.match(again.stdout, /^ +2 +VAL-E002 +the line is not JSON$/m);
  // No terminal, no progress line.
  assert.equal(again.stderr, '');
  const missing = await granary(here('import', path, '--memory', 'nowhere', '--no-create'));
  assert.match(missing.stdout, /MEM-E003/);
  assert.equal(missing.code, 1);
});

test('--errors has the errors of every file, and is opened before anything is stored', async () => {
  const paths = ['one', 'other'].map((name) =>
    file(`${name}.jsonl`, ['not json', { subject: name, relation: 'is', object: 'here' }]),
  );
  const errors = join(directory, 'all-errors.jsonl');
  const ran = await granary(here('import', ...paths, '--memory', 'both', '--errors', errors));
  assert.equal(ran.code, 1, ran.stderr);
  const told = readFileSync(errors, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { file: string; line: number; code: string });
  assert.deepEqual(
    told.map((one) => [one.file, one.line, one.code]),
    paths.map((path) => [path, 1, 'VAL-E002']),
  );
  const nowhere = join(directory, 'no-folder', 'errors.jsonl');
  const refused = await granary(here('import', ...paths, '--memory', 'untouched', '--errors', nowhere));
  assert.match(refused.stderr, /^granary: FILE: --errors: /);
  const untouched = await granary(here('stats', '-m', 'untouched'));
  assert.match(untouched.stderr, /^granary: MEM-E003/);
});

test('an import that goes on from a line gives turns the times that they would have had', async () => {
  const said = ['one', 'two', 'three'].map((word) => ({
    conv: 'c',
    time: '2024-03-15',
    role: 'user',
    text: `said ${word}`,
  }));
  const path = file('resumed.jsonl', ['not json', ...said]);
  const report = await granaryJson(here('import', path, '--memory', 'resumed', '--from-line', '4'));
  assert.deepEqual([report['added'], report['errors']], [1, 0]);
  const [turn] = await recalled('resumed', 'said three');
  assert.equal(turn?.fields['created_at'], Date.UTC(2024, 2, 15) / 1000 + 2);
});

test('one memory per field value, from standard input; exports are complete', async () => {
  const lines = [1, 2, 3, 4].map((n) => ({
    conv: `conv-${n % 2}`,
    role: 'user',
    text: `saying ${n}`,
    time: 1_700_000_000 + n,
  }));
  const input = lines.map((line) => JSON.stringify(line)).join('\n');
  const report = await granaryJsonOfProcess(here('import', '-', '--memory-from', 'conv'), 0, input);
  assert.deepEqual(report['memories'], { 'conv-1': 2, 'conv-0': 2 });
  const [mg, jsonl] = [join(directory, 'conv.mg'), join(directory, 'conv.jsonl')];
  const [whole, readable] = await Promise.all([
    granaryJsonOfProcess(here('export', '-m', 'conv-1', '--out', mg)),
    granaryJsonOfProcess(here('export', '-m', 'conv-1', '--out', jsonl)),
  ]);
  assert.deepEqual([whole['format'], whole['grains'], readable['format'], readable['grains']], ['mg', 2, 'jsonl', 2]);
  const exported = readFileSync(jsonl, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Shown);
  const same = await granaryJsonOfProcess(here('import', mg, '-m', 'conv-1'));
  assert.deepEqual([same['added'], same['duplicates'], same['errors']], [0, 2, 0]);
  const copied = await granaryJsonOfProcess(here('import', mg, '-m', 'copy'));
  assert.deepEqual(new Set(copied['hashes'] as string[]), new Set(exported.map(({ hash }) => hash)));
  const read = await granaryJsonOfProcess(here('import', jsonl, '-m', 'read'));
  assert.equal(read['added'], 2);
  const stats = await granaryJsonOfProcess(here('stats', '-m', 'read'));
  assert.deepEqual([stats['memory'], stats['total_grains']], ['read', 2]);
  const metrics = await granaryJsonOfProcess(here('metrics', '-m', 'read'));
  assert.deepEqual([metrics['memory'], metrics['total'], metrics['domain']], ['read', 25, 'all']);
  const table = await granaryProcess(here('metrics', '-m', 'read', '--domain', 'ops'));
  assert.match(table.stdout, /^green +ops\.audit_chain_valid +1 /m);
  assert.match(table.stdout, /^ops\.disk_quota_pct +no quota$/m);
  const unknown = await granaryProcess(here('metrics', '-m', 'read', '--domain', 'sales'));
  assert.equal(unknown.code, 2);
  const piped = await granaryProcess(here('export', '-m', 'conv-1', '--format', 'jsonl'));
  assert.equal(piped.stdout, readFileSync(jsonl, 'utf8'));
  writeFileSync(mg, readFileSync(mg).fill(0xff, 60, 64));
  const damaged = await granaryProcess(here('import', mg, '-m', 'copy'));
  assert.deepEqual([damaged.code, damaged.stdout], [1, '']);
  assert.match(damaged.stderr, /^granary: FMT-E00\d: /);
});

test('memories and keys are created and removed', async () => {
  const made = await granaryJson(here('memories', 'create', 'short', '--name', 'Short lived', '--partitions', '2'));
  assert.equal(made['id'], 'short');
  const taken = await granary(here('memories', 'create', 'short'));
  assert.match(taken.stderr, /^granary: MEM-E004: /);
  const key = await granaryJson(
    here('keys', 'create', '--name', 'reader', '--scope', 'read', '--expires', '2199-01-01'),
  );
  const reading = { env: { GRANARY_API_KEY: String(key['raw_key']) } };
  const [listed, keys, allowed, refused] = await Promise.all([
    granaryJson(here('memories')),
    granary(here('keys', 'list')),
    granary(here('stats', '-m', 'short', '--json'), reading),
    granary(here('add', 'a', 'b', 'c', '--json'), reading),
  ]);
  assert.ok((listed['memories'] as { id: string }[]).some(({ id }) => id === 'short'));
  assert.match(keys.stdout, /reader .* read +until 2199-01-01/);
  assert.equal(allowed.code, 0);
  assert.equal(refused.code, 1);
  assert.equal((JSON.parse(refused.stdout) as { error: { code: string } }).error.code, 'AUT-E001');
  await granaryJson(here('keys', 'revoke', String(key['key_id'])));
  const revoked = await granary(here('stats'), reading);
  assert.match(revoked.stderr, /^granary: AUT-E004: /);
  const unsure = await granary(here('memories', 'delete', 'short'));
  assert.equal(unsure.code, 2);
  const gone = await granaryJson(here('memories', 'delete', 'short', '--yes'));
  assert.match(String(gone['key_fingerprint']), /^[0-9a-f]{16}$/);
  const missing = await granary(here('stats', '-m', 'short'));
  assert.match(missing.stderr, /^granary: MEM-E003: /);
});

test('a server is found by either of its addresses', async () => {
  const env = { GRANARY_API_KEY: readFileSync(join(directory, 'data/keys/bootstrap.key'), 'utf8').trim() };
  // `health` is an rpc and `memories` a route: each must find the other address.
  const [rpc, route, byHttp] = await Promise.all([
    granaryProcess(['health', '--url', server().http, '--json'], { env }),
    granaryProcess(['memories', '--url', server().grpc, '--json'], { env }),
    granaryProcess(['memories', '--url', server().http, '--json'], { env }),
  ]);
  assert.equal((JSON.parse(rpc.stdout) as { status: string }).status, 'ok');
  assert.equal(route.code, 0);
  assert.deepEqual(JSON.parse(route.stdout), JSON.parse(byHttp.stdout));
});

test('maintenance while the server runs: verify, compact, rebuild-indexes, rotate-keys, backup', async () => {
  await granaryJson(here('add', 'upkeep', 'needs', 'grains', '-m', 'default'));
  const verified = await granaryJson(here('verify'));
  assert.deepEqual([verified['shards'], verified['findings'], verified['finding_count']], [2, [], 0]);
  assert.ok(Number(verified['grains']) > 0 && Number(verified['audit_entries']) > 0);
  const rebuilt = await granaryJson(here('rebuild-indexes'));
  assert.deepEqual([rebuilt['memory'], rebuilt['errors']], ['default', 0]);
  assert.ok(Number(rebuilt['grains_scanned']) > 0);
  const compacted = await granaryJson(here('compact', '--all'));
  assert.ok((compacted['memories'] as { memory: string }[]).some(({ memory }) => memory === 'default'));
  const rotated = await granaryJson(here('rotate-keys'));
  assert.match(String(rotated['fingerprint']), /^[0-9a-f]{16}$/);
  const path = join(directory, 'backup');
  const copied = await granary(here('backup', path));
  assert.match(copied.stdout, /of 2 shards in /);
  assert.ok(existsSync(join(path, 'data/layout.json')) && existsSync(join(path, 'keys/control.key')));
  const twice = await granary(here('backup', path));
  assert.deepEqual(
    [twice.code, twice.stderr],
    [1, `granary: FILE: ${path} is not empty: name an empty or missing folder\n`],
  );
  const locked = await granary(here('restore', path, '--yes'));
  assert.equal(locked.code, 1);
  assert.match(locked.stderr, /^granary: STO-E001: .* is in use by another server: process \d+, at http:/);
});

test('providers are set with a key from the environment or standard input, tested, assigned and removed', async (t) => {
  const KEY = 'sk-cli-0123456789-tail';
  const models = await startOpenAi([], { key: KEY, models: ['chatty', 'embed-small'] });
  t.after(() => models.close());
  assert.equal((await granary(here('providers'))).stdout, 'There are no providers.\n');
  const set = here(
    'providers',
    'set',
    'own',
    '--kind',
    'openai_compatible',
    '--base-url',
    models.url,
    '--region',
    'eu',
  );
  const made = await granary(set, { env: { GRANARY_PROVIDER_KEY: KEY } });
  assert.equal(made.stdout, `Provider own is made: openai_compatible ${models.url}\n`, made.stderr);
  const changed = await granaryProcess([...set, '--key-stdin'], { input: `${KEY}\n` });
  assert.equal(changed.stdout, `Provider own is changed: openai_compatible ${models.url}\n`);
  const listed = await granary(here('providers', 'list'));
  assert.match(listed.stdout, /own\s+openai_compatible\s+http:\S+\s+…tail\s+eu\s+on/);
  assert.ok(!listed.stdout.includes(KEY));
  assert.match((await granary(here('providers', 'test', 'own'))).stdout, /^Provider own answered in [\d.]+ ms\.\n$/);
  const { models: chats } = await granaryJson(here('models', '--capability', 'chat'));
  assert.deepEqual(
    (chats as { readonly id: string }[]).map(({ id }) => id),
    ['chatty'],
  );
  assert.match((await granary(here('models', 'list', '--provider', 'own'))).stdout, /own\s+embed-small\s+embedding/);
  const { assignments } = await granaryJson(here('models', 'assign', 'hyde', 'own', 'chatty'));
  assert.deepEqual((assignments as Record<string, unknown>)['hyde'], { provider: 'own', model: 'chatty' });
  assert.match((await granary(here('models', 'roles'))).stdout, /hyde\s+own\s+chatty/);
  const used = await granary(here('providers', 'remove', 'own'));
  assert.match(used.stderr, /^granary: LLM-E004: the provider own has the model of the role hyde/);
  await granaryJson(here('models', 'assign', 'hyde', 'none'));
  await granaryJson([...set, '--off']);
  const off = await granary(here('providers', 'test', 'own'));
  assert.deepEqual([off.code, /switched off/.test(off.stdout)], [1, true]);
  assert.equal((await granary(here('providers', 'remove', 'own'))).stdout, 'Provider own is removed.\n');
  assert.equal((await granary(here('models', 'assign', 'chat', 'own'))).code, 2);
});

test('a hook is created with its secret, listed, read and deleted', async () => {
  await granaryJson(here('memories', 'create', 'hooked'));
  const create = ['hooks', 'create', '--name', 'index', '--event', 'grain_created', '-m', 'hooked'];
  const sent = await granary(here(...create, '--to', 'http://127.0.0.1:9/in', '--secret'));
  assert.equal(sent.code, 0, sent.stderr);
  assert.match(sent.stdout, /^\S+\n$/);
  assert.match(sent.stderr, /Save its secret now/);
  const { hook_id: pulled } = await granaryJson(here(...create));
  const long = [
    'hooks',
    'create',
    '--name',
    'n'.repeat(60),
    '-m',
    'hooked',
    '--to',
    `http://127.0.0.1:9/${'x'.repeat(200)}`,
  ];
  const kinds = EVENT_KINDS.flatMap((kind) => ['--event', kind]);
  const { hook_id: wide } = await granaryJson(here(...long, ...kinds));
  const shown = await granary(here('hooks', '-m', 'hooked'));
  const lines = shown.stdout.split('\n');
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  );
  for (const part of [
    'index',
    String(wide),
    '0 delivered to http://127.0.0.1:9/in',
    'read',
    'events: grain_created',
    'active',
  ])
    assert.ok(shown.stdout.includes(part), part);
  assert.ok(EVENT_KINDS.every((kind) => shown.stdout.includes(kind)));
  await granaryJson(here('hooks', 'delete', String(wide), '-m', 'hooked'));
  const ahead = await granary(here('hooks', 'read', String(pulled), '-m', 'hooked', '--after', '1000000'));
  assert.match(ahead.stderr, /is not one of this log/);
  const { hash } = await granaryJson(here('add', 'ada', 'likes', 'chess', '-m', 'hooked'));
  const { events } = await granaryJson(here('hooks', 'read', String(pulled), '-m', 'hooked'));
  assert.deepEqual(
    (events as { readonly hash: string }[]).map((event) => event.hash),
    [hash],
  );
  await granaryJson(here('hooks', 'delete', String(pulled), '-m', 'hooked'));
  const { hooks } = await granaryJson(here('hooks', 'list', '-m', 'hooked'));
  assert.deepEqual(
    (hooks as { readonly url: string }[]).map(({ url }) => url),
    ['http://127.0.0.1:9/in'],
  );
});

test('usage errors are exit code 2, failures 1, and help says so', async () => {
  const [unknown, option, argument, nowhere, help, words] = await Promise.all([
    granaryProcess(['frobnicate']),
    granaryProcess(['recall', '--nope', '--json']),
    granaryProcess(here('import', 'x.jsonl', '--memory', 'a', '--memory-from', 'b')),
    granaryProcess(['stats', '--url', '127.0.0.1:1', '--json'], { env: { GRANARY_API_KEY: 'gr_none' } }),
    granaryProcess(['--help']),
    granaryProcess(['recall', '--help']),
  ]);
  assert.deepEqual([unknown.code, option.code, argument.code], [2, 2, 2]);
  assert.match(unknown.stderr, /unknown command 'frobnicate'/);
  assert.equal((JSON.parse(option.stdout) as { error: { code: string } }).error.code, 'USAGE');
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /^granary: NO-SERVER: no server answers at 127\.0\.0\.1:1/);
  assert.equal((JSON.parse(nowhere.stdout) as { error: { code: string } }).error.code, 'NO-SERVER');
  assert.equal(help.code, 0);
  assert.match(help.stdout, /Exit codes: 0 success; 1 the command failed/);
  const commands = help.stdout.slice(0, help.stdout.indexOf('Examples:')).split('\n');
  assert.deepEqual(
    commands.filter((line) => line.length > 80),
    [],
  );
  for (const command of ['serve', 'import', 'verify', 'restore', 'bench', 'grain'])
    assert.match(help.stdout, new RegExp(`^ {2}${command}\\b`, 'm'));
  assert.match(words.stdout, /last 7 days/);
});

test('the chats of a public data set are imported, each into its own memory', async (t) => {
  if (!existsSync(CHATS)) return t.skip(`${CHATS} is not there`);
  const report = await granaryJson(here('import', CHATS, '--memory-from', 'conv', '--namespace', 'beam'));
  assert.deepEqual([report['added'], report['errors'], report['lines']], [5094, 0, 5094]);
  assert.equal(Object.keys(report['memories'] as object).length, 20);
  const hits = await recalled('1', 'when does the budget tracker need its first sprint finished?', '-n', '5');
  assert.equal(hits.length, 5);
  assert.match(String(hits[0]?.fields['_id']), /^1:\d+$/);
});

test('the audit trail is shown, and a person’s data is exported', async () => {
  await granaryJson(here('memories', 'create', 'told'));
  const { hash } = await granaryJson(here('add', 'eve', 'likes', 'rain', '--user', 'eve', '-m', 'told'));
  await granaryJson(here('recall', 'rain', '-m', 'told'));
  const tail = await granaryJson(here('audit', 'tail', '-m', 'told', '--verify'));
  const entries = tail['entries'] as { readonly event_type: string }[];
  assert.deepEqual(
    [entries.map(({ event_type }) => event_type), tail['chain_valid']],
    [['instance.created', 'authz.changed', 'memory.added', 'memory.recalled'], true],
  );
  const people = await granary(here('audit', 'tail', '-m', 'told', '--grain', String(hash), '--verify'));
  assert.match(people.stdout, /memory\.added/);
  assert.match(people.stdout, /The audit chain is intact\./);
  const lines = await granary(here('audit', 'export', '-m', 'told', '--event', 'memory.*'));
  assert.equal(lines.stdout.trim().split('\n').length, 2);
  const out = join(directory, 'eve.json');
  await granaryJson(here('export', '--user', 'eve', '-m', 'told', '--out', out));
  const data = JSON.parse(readFileSync(out, 'utf8'));
  assert.deepEqual([data.count, data.grains[0].hash], [1, hash]);
  const report = await granaryJson(here('report', '--user', 'eve', '-m', 'told'));
  assert.deepEqual([report['count'], report['types']], [1, { belief: 1 }]);
  assert.equal((await granary(here('export', '--user', 'eve', '--current'))).code, 2);
});

test('a harness is provisioned from a file, shown, changed, given a tool and removed', async () => {
  await granaryJson(here('memories', 'create', 'agents'));
  const of = (...words: readonly string[]) => here('harnesses', ...words, '-m', 'agents');
  const file = (name: string, value: unknown): string => {
    const path = join(directory, name);
    writeFileSync(path, JSON.stringify(value));
    return path;
  };
  const none = await granary(of());
  assert.equal(none.stdout, 'There are no harnesses.\n');
  const tool = {
    tool_name: 'orders.find',
    description: 'Finds an order by its number',
    input_schema: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
    location: 'client://orders',
  };
  const definition = file('support.json', { goal: 'Help customers', tools: [tool] });
  const made = await granary(of('provision', 'support', definition, '--template', 'support-copilot'));
  assert.equal(made.stdout, 'Harness support is provisioned with 1 tool.\n', made.stderr);
  const prompt = join(directory, 'prompt.txt');
  writeFileSync(prompt, 'Answer in two sentences.');
  const changed = await granaryJson(of('edit', 'support', '--prompt', `@${prompt}`, '--iterations', '3'));
  assert.deepEqual(
    [changed['system_prompt'], changed['max_iterations'], changed['goal']],
    ['Answer in two sentences.', 3, 'Help customers'],
  );
  const bound = await granary(of('bind-tool', 'support', file('tool.json', { ...tool, tool_name: 'refund' })));
  assert.equal(bound.stdout, 'Tool refund is bound to support; it is run by the client.\n', bound.stderr);
  const shown = await granary(of('show', 'support'));
  assert.match(shown.stdout, /^tools +orders\.find, refund$/m);
  assert.match(shown.stdout, /\n\nAnswer in two sentences\.\n$/);
  assert.match((await granary(of('tools', 'support'))).stdout, /orders\.find +client:\/\/orders/);
  assert.match((await granary(of())).stdout, /support +provisioned +2 +Help customers/);
  const templates = await granaryJson(of('templates'));
  assert.equal((templates['templates'] as readonly unknown[]).length, 7);
  assert.match((await granary(of('templates', 'policy-library'))).stdout, /request_clarification/);
  assert.equal((await granary(of('templates', 'none'))).code, 1);
  assert.equal((await granary(of('edit', 'support'))).code, 2);
  assert.equal((await granary(of('provision', 'support', join(directory, 'nothing.json')))).code, 1);
  assert.equal((await granary(of('create', 'draft', '--template', 'blank'))).code, 0);
  assert.equal((await granary(of('remove', 'support', '--reason', 'over'))).stdout, 'Harness support is deleted.\n');
  const { total } = await granaryJson(of());
  assert.equal(total, 1);
});
