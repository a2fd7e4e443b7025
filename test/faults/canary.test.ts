// Words of callers must not be readable in any file of the data directory or a backup, nor in the log.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EngineError } from '../../src/engine/base/errors.ts';
import type { CallContext } from '../../src/engine/calls/context.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { GRAIN_TYPE_NAMES } from '../../src/engine/grain/grain.ts';
import { openEngine } from '../../src/engine/open.ts';
import { formsIn, formsOf } from '../support/encoded-forms.ts';
import { ask, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { codeOf, contextOf, openShard, recalled, settingsOf, until } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** Twelve letters that occur nowhere else. */
class Canaries {
  readonly words = new Map<string, string>();

  /** A new word for `where`; analysers treat it as a word, so that it is indexed as a term. */
  word(where: string): string {
    const made = `zq${randomBytes(8)
      .toString('hex')
      .replace(/[0-9]/g, (digit) => 'ghjkmnpqrs'[Number(digit)]!)}`;
    this.words.set(where, made);
    return made;
  }
}

function* filesOf(directory: string): IterableIterator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) yield join(entry.parentPath, entry.name);
}

/** `file: word of where as form`, for every find. */
function findIn(name: string, bytes: Buffer, canaries: Canaries): string[] {
  const found: string[] = [];
  for (const [where, word] of canaries.words)
    for (const form of formsIn(bytes, word)) found.push(`${name}: the ${where} (${word}) as ${form}`);
  return found;
}

/** Undefined if the running server has replaced the file since it was listed. */
function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined; // an error of the file system
    throw error;
  }
}

function scan(directory: string, canaries: Canaries): { files: number; bytes: number; found: string[] } {
  const scanned = { files: 0, bytes: 0, found: [] as string[] };
  for (const file of filesOf(directory)) {
    const bytes = contentOf(file);
    if (bytes === undefined) continue;
    scanned.files += 1;
    scanned.bytes += bytes.length;
    scanned.found.push(...findIn(file.slice(directory.length + 1), bytes, canaries));
    scanned.found.push(...findIn(`the name of ${file}`, Buffer.from(file.slice(directory.length + 1)), canaries));
  }
  return scanned;
}

/** A grain of each type, with a canary in every text that it may contain. */
function grainsOf(c: (where: string) => string): { grain_type: string; fields: Record<string, unknown> }[] {
  const common = () => ({
    namespace: c('namespace'),
    user_id: c('user id'),
    session_id: c('session id'),
    tags: [c('tag'), `prefix/${c('tag part')}`],
  });
  /** A consent has none of these. */
  const free = () => ({
    context: { [c('context name')]: c('context value') },
    [c('extra field')]: { nested: [c('extra value')] },
  });
  const of = (grain_type: string, fields: Record<string, unknown>) => ({
    grain_type,
    fields: { ...common(), ...(grain_type === 'consent' ? { basis: c('basis') } : free()), ...fields },
  });
  const node = c('node');
  return [
    of('belief', { subject: c('subject'), relation: c('relation'), object: c('object') }),
    of('event', {
      content: `${c('event content')} was said`,
      role: 'user',
      speaker: c('speaker'),
      run_id: c('run id'),
    }),
    of('state', { data: { [c('state name')]: c('state value') } }),
    of('workflow', {
      nodes: ['a', node],
      edges: [{ src: 'a', dst: node, cond: c('edge condition') }],
      trigger: c('trigger'),
    }),
    of('action', {
      tool_name: c('tool'),
      input: { pattern: c('tool input') },
      content: c('tool output'),
      is_error: false,
    }),
    of('observation', { content: c('observation'), observer_id: c('observer'), observer_type: c('observer type') }),
    of('goal', { description: c('goal'), goal_state: 'active', criteria: c('criteria') }),
    of('reasoning', { premises: [c('premise')], conclusion: c('conclusion'), inference_method: 'deductive' }),
    of('consensus', {
      participating_observers: [c('participant'), 'b'],
      threshold: 0.5,
      agreement_count: 2,
      agreed_content: c('agreed'),
    }),
    of('consent', {
      subject_did: `did:key:${c('subject did')}`,
      grantee_did: `did:key:${c('grantee did')}`,
      scope: c('consent scope'),
    }),
  ];
}

test('the canaries are in a grain of each type', () => {
  const types = grainsOf((where) => where).map(({ grain_type: type }) => type);
  assert.deepEqual(types.toSorted(), [...GRAIN_TYPE_NAMES].sort());
});

/** Sends a request that must succeed. */
async function done(server: ServerProcess, path: string, json?: unknown, headers: Record<string, string> = {}) {
  const reply = await ask(server, 'POST', path, json, headers);
  assert.ok(reply.status < 300, `${path}: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

async function fill(server: ServerProcess, canaries: Canaries): Promise<void> {
  const c = (where: string) => canaries.word(where);
  const M = '/memories/m1';
  await done(server, '/memories', { id: 'm1', name: c('memory name'), description: c('memory description') });
  const made = await done(server, '/auth/keys', { scopes: ['read', 'write'], name: c('key name'), memory_id: 'm1' });
  canaries.words.set('API key', made.raw_key);
  canaries.words.set('bootstrap key', server.key);
  for (let round = 0; round < 3; round++) {
    const reply = await done(server, `${M}/batch-add`, { grains: grainsOf(c) });
    assert.deepEqual(reply.errors, []);
    await done(server, `${M}/flush`);
  }
  const { blob_hash: hash } = await done(server, `${M}/add`, {
    subject: c('superseded subject'),
    relation: 'was',
    object: c('superseded object'),
    visits: 1,
  });
  const repeat = { 'idempotency-key': c('idempotency key'), 'x-reason': c('reason header') };
  const newer = await done(
    server,
    `${M}/supersede`,
    { blob_hash: hash, fields: { object: c('newer object') }, reason: c('supersede reason') },
    repeat,
  );
  await done(
    server,
    `${M}/accumulate`,
    { blob_hash: newer.new_hash, deltas: { visits: 2 }, set: { [c('set name')]: c('set value') } },
    { 'idempotency-key': c('other key') },
  );
  await done(server, `${M}/recall`, {
    query: `${c('query word')} "${c('phrase word')}"`,
    subject: c('query subject'),
    namespace: c('query namespace'),
  });
  await done(server, `${M}/search`, { query: c('search word') });
  // Rejected input is not stored either.
  const bad = await ask(server, 'POST', `${M}/add`, {
    subject: c('refused subject'),
    relation: 7,
    object: c('refused object'),
  });
  assert.equal(bad.status, 422);
  await ask(server, 'GET', `${M}/grains?namespace=${c('listed namespace')}`);
  await ask(server, 'GET', `/${c('unknown route')}`);
  const { blob_hash: forgotten } = await done(server, `${M}/add`, {
    subject: c('forgotten subject'),
    relation: 'is',
    object: c('forgotten object'),
  });
  await done(server, `${M}/forget`, { blob_hash: forgotten, reason: c('forget reason') });
  await done(server, `${M}/add`, {
    subject: c('erased subject'),
    relation: 'is',
    object: c('erased object'),
    user_id: canaries.word('erased user'),
  });
  await done(
    server,
    `${M}/forget`,
    { user_id: canaries.words.get('erased user') },
    { 'idempotency-key': c('erase key') },
  );
  for (const [subject, relation, object] of [
    [`user:${c('granted user')}`, 'member', `group:${c('group')}`],
    [`group:${c('granted group')}#member`, 'viewer', `namespace:${c('granted namespace')}`],
    [`user:${c('revoked user')}`, 'manager', `harness:${c('harness')}`],
  ] as const)
    await done(
      server,
      `${M}/authz/grant`,
      { subject, relation, object },
      { 'idempotency-key': c(`grant ${relation}`) },
    );
  const revoked = { relation: 'manager', object: `harness:${canaries.words.get('harness')}` };
  await done(server, `${M}/authz/revoke`, { ...revoked, subject: `user:${canaries.words.get('revoked user')}` });
  // Turns of a harness; one of the speakers is erased.
  assert.ok((await ask(server, 'PUT', '/settings/providers/echo', { kind: 'mock' })).status < 300);
  await done(server, `${M}/harnesses/support/provision`, { goal: c('harness goal'), provider: 'echo', model: 'echo' });
  for (const speaker of ['speaking user', 'erased speaker']) {
    const turn = {
      conversation_id: c('conversation'),
      user_message: c('message'),
      user_id: canaries.word(speaker),
      client_tools: [{ tool_name: 'x', description: c('tool description'), input_schema: { type: 'object' } }],
    };
    await done(server, `${M}/harnesses/support/chat`, turn, { 'idempotency-key': c('turn key') });
  }
  await done(server, `${M}/forget`, { user_id: canaries.words.get('erased speaker') });
  // A user whom somebody else names, then erased; and a scope that was written in, then erased.
  const named = c('named user');
  await done(server, `${M}/add`, { subject: 'somebody', relation: 'is', object: 'there', user_id: named });
  await done(server, `${M}/add`, { subject: named, relation: c('relation to a named user'), object: 'there' });
  await done(server, `${M}/app/exec`, { command: 'forget_user', args: { user_id: named } });
  const scope = c('scope');
  const tree = { name: c('root of scopes'), children: [{ name: scope, children: [{ name: c('inner scope') }] }] };
  const set = await ask(server, 'PUT', `${M}/scope-tree`, tree);
  assert.equal(set.status, 200);
  await done(server, `${M}/add`, { subject: 's', relation: 'is', object: c('scoped object'), namespace: scope });
  await done(server, `${M}/scope-erase`, { scope_path: scope, reason: c('scope reason') });
}

test('no file, backup or log contains a readable word of a caller', async (t) => {
  const root = temporaryDirectory(t);
  const directory = join(root, 'data');
  const canaries = new Canaries();
  const server = await startServerProcess({
    directory,
    flags: ['--shards', '1', '--workers', '1', '--log-level', 'debug'],
  });
  t.after(() => server.kill());
  await fill(server, canaries);
  const exec = (command: string, args = {}) => done(server, '/memories/m1/app/exec', { command, args });
  await exec('compact');
  await exec('rebuild_indexes');
  await exec('rotate_keys', { scope: 'memory' });
  // Part of it stays in the tail, only in the log.
  const reply = await done(server, '/memories/m1/batch-add', {
    grains: grainsOf((where) => canaries.word(`${where}, unsealed`)),
  });
  assert.deepEqual(reply.errors, []);
  await exec('backup', { path: join(root, 'backup') });
  // The state after a kill: a tail that is only in the log. Then closed properly, with everything sealed.
  const running = scan(directory, canaries);
  assert.equal(await server.stop(), 0);
  const closed = scan(directory, canaries);
  const backup = scan(join(root, 'backup'), canaries);
  t.diagnostic(
    `${canaries.words.size} words; ${running.files + closed.files + backup.files} files, ${running.bytes + closed.bytes + backup.bytes} bytes`,
  );
  assert.ok(running.files > 8 && backup.files > 6 && closed.bytes > 100_000);

  // The first key is in its own file, and is printed once, at the first start.
  const isFirstKey = (find: string): boolean => find.includes('keys/bootstrap.key: the bootstrap key');
  assert.deepEqual(
    [...running.found, ...closed.found, ...backup.found].filter((find) => !isFirstKey(find)),
    [],
  );
  assert.deepEqual(findIn('log', Buffer.from(server.output()), canaries), []);
});

test('the scan finds a word in any of its forms', (t) => {
  const directory = temporaryDirectory(t);
  const canaries = new Canaries();
  const word = canaries.word('word');
  for (const [form, pattern] of formsOf(word)) {
    const found = findIn('file', Buffer.concat([randomBytes(7), pattern, randomBytes(7)]), canaries);
    assert.ok(
      found.some((find) => find.endsWith(form)),
      form,
    );
  }
  for (let before = 0; before < 3; before++) {
    const encoded = Buffer.from(`${'x'.repeat(before)}${word} and more`).toString('base64');
    assert.notDeepEqual(findIn('file', Buffer.from(encoded), canaries), [], `base64 after ${before}`);
  }
  assert.deepEqual(scan(directory, canaries), { files: 0, bytes: 0, found: [] });
});

test('an old copy of the data opens nothing of an erased scope with the current keys', async (t) => {
  const root = temporaryDirectory(t);
  const [data, old] = [join(root, 'data'), join(root, 'old')];
  const say = async (engine: Engine, namespace: string, user?: string): Promise<string> => {
    const fields = { subject: 's', relation: 'says', object: `words of ${namespace}`, visits: 1, namespace };
    const item = { grainType: 'belief', fields: { ...fields, ...(user === undefined ? {} : { user_id: user }) } };
    return (await engine.write('add', contextOf(1), { ...item, sync: true })).hash;
  };
  const repeated = (target: string) => ({
    context: { ...contextOf(1), idempotency: { key: target, bodyHash: 'b' } },
    input: { target: { hash: target }, deltas: { visits: 1 }, set: { note: 'kept' } },
  });
  let engine = await openShard(data);
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  const gone = [await say(engine, 'acme'), await say(engine, 'acme', 'ann'), await say(engine, 'acme/prod', 'ann')];
  const stays = [await say(engine, 'acmes', 'ann'), await say(engine, 'default', 'ann')];
  for (const hash of gone) {
    const { context, input } = repeated(hash);
    assert.match(JSON.stringify(await engine.write('accumulate', context, input)), /words of acme/);
  }
  await engine.abandon();
  cpSync(data, old, { recursive: true });

  engine = await openShard(data);
  const { proofs } = await engine.write('eraseScope', contextOf(1), { path: 'acme' });
  assert.deepEqual(
    proofs.map(({ path, count }) => [path, count]),
    [
      ['acme', 4],
      ['acme/prod', 2],
    ],
  );
  await until(engine, () => engine.read('statistics', contextOf(1), {}).purgePending === 0);
  await engine.close();
  rmSync(join(old, 'keys'), { recursive: true });
  cpSync(join(data, 'keys'), join(old, 'keys'), { recursive: true });

  engine = await openShard(old);
  t.after(() => engine.close());
  for (const hash of gone) {
    assert.match((await codeOf(() => engine.read('getRaw', contextOf(1), { hash }))) ?? 'readable', /^(MEM|STO)-/);
    const { context, input } = repeated(hash);
    assert.match((await codeOf(() => engine.write('accumulate', context, input))) ?? 'repeated', /^(MEM|STO)-/);
  }
  await until(engine, () => !engine.store.isDamaged(1));
  for (const hash of stays) assert.match(JSON.stringify(engine.read('get', contextOf(1), { hash })), /words of/);
  assert.deepEqual(new Set(recalled(engine, 1, 'words')), new Set(stays));
});

test('an old copy of the data opens nothing of an erased user with the current keys', async (t) => {
  const root = temporaryDirectory(t);
  const open = (directory: string): Promise<Engine> =>
    openEngine({
      directory: join(directory, 'shard-0'),
      keysDirectory: join(directory, 'keys', 'shard-0'),
      shard: 0,
      shards: 1,
      masterKeys: [Buffer.alloc(32, 7)],
      indexHeapBytes: 16 << 20,
    });
  const context: CallContext = { memory: 1, partition: 0, actor: 'key:test', requestId: 'req_test' };
  const data = join(root, 'data');
  const old = join(root, 'old');
  let engine = await open(data);
  const settings = { number: 1, id: 'm', partitions: 1, language: 'en', dedup: 'exact', dedupThreshold: 0.85 } as const;
  await engine.write('attachMemory', context, { settings: { ...settings, createdAtMs: 1_700_000_000_000 } });
  const add = async (user: string): Promise<string> => {
    const fields = { subject: user, relation: 'says', object: `something of ${user}`, visits: 1, user_id: user };
    return (await engine.write('add', context, { grainType: 'belief', fields, sync: true })).hash;
  };
  const ann = await add('ann');
  const bob = await add('bob');
  const repeated = { ...context, idempotency: { key: 'once', bodyHash: 'b' } };
  const accumulate = (): Promise<unknown> =>
    engine.write('accumulate', repeated, {
      target: { hash: ann },
      deltas: { visits: 1 },
      set: { note: 'kept by ann' },
    });
  const { newHash } = (await accumulate()) as { newHash: string };
  // The answer of a request with an idempotency key is stored for a repeat.
  assert.match(JSON.stringify(await accumulate()), /kept by ann/);
  await engine.abandon();
  cpSync(data, old, { recursive: true });

  engine = await open(data);
  const erasing = { ...context, idempotency: { key: 'erase', bodyHash: 'e' } };
  const { count, keyFingerprint } = await engine.write('eraseUser', erasing, { userId: 'ann' });
  assert.equal(count, 2);
  const again = await engine.write('eraseUser', erasing, { userId: 'ann' });
  assert.deepEqual([again.userId, again.count, again.keyFingerprint], ['ann', 2, keyFingerprint]);
  await engine.close();
  rmSync(join(old, 'keys'), { recursive: true });
  cpSync(join(data, 'keys'), join(old, 'keys'), { recursive: true });

  engine = await open(old);
  t.after(() => engine.close());
  for (const hash of [ann, newHash]) {
    assert.throws(() => engine.read('get', context, { hash }), EngineError);
    assert.throws(() => engine.read('getRaw', context, { hash }), EngineError);
  }
  await assert.rejects(accumulate(), EngineError);
  for (const query of ['ann', 'kept', 'something']) {
    const wanted = { query, filter: {}, structural: false, limit: 10, candidateLimit: 50 };
    let answer: unknown;
    try {
      answer = engine.read('recall', context, wanted);
    } catch (error) {
      // The old index may lead to grains that nobody can open.
      assert.ok(error instanceof EngineError, String(error));
    }
    assert.ok(!/something of ann|kept by ann/.test(JSON.stringify(answer) ?? ''), query);
  }
  assert.equal(engine.read('get', context, { hash: bob }).fields['object'], 'something of bob');
});
