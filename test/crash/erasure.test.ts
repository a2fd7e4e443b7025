// Killed erasures: at any step of a shard, and on a server whose memory has four partitions.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { childFile } from '../support/program.ts';
import { runs } from '../support/runs.ts';
import { ask, startServerProcess } from '../support/server-process.ts';
import { addBelief, contextOf, openShard, recalled, settingsOf, until } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import type { Acknowledged, ErasureChildOptions } from './erasure-child.ts';

const CHILD = childFile(join(import.meta.dirname, 'erasure-child.ts'));
/** More steps than an erasure and its purge take. */
const STEPS_MAX = 45;
/** A test that takes longer hangs. */
const TIMEOUT_MS = 600_000;

interface Death {
  readonly done: readonly Acknowledged[];
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

function live(options: ErasureChildOptions): Promise<Death> {
  const child = fork(CHILD, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const done: Acknowledged[] = [];
  let stderr = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.on('message', (message: Acknowledged) => void done.push(message));
  return new Promise((resolve) => child.once('close', (_, signal) => resolve({ done, signal, stderr })));
}

interface Hashes {
  readonly scope: readonly string[];
  readonly user: readonly string[];
  readonly naming: readonly string[];
  readonly others: readonly string[];
}

/** Partly sealed, partly in the tail. */
async function prepare(root: string): Promise<Hashes> {
  const engine = await openShard(root);
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  const prepared = { scope: [] as string[], user: [] as string[], naming: [] as string[], others: [] as string[] };
  for (let i = 0; i < 6; i++) {
    const object = `word${i}`;
    prepared.scope.push(
      await addBelief(engine, 1, { subject: 's', object, namespace: i % 2 === 0 ? 'acme' : 'acme/prod' }),
    );
    prepared.user.push(await addBelief(engine, 1, { subject: `u${i}`, object, user_id: 'ann' }));
    prepared.naming.push(await addBelief(engine, 1, { subject: 'ann', object, user_id: `friend${i}` }));
    prepared.others.push(await addBelief(engine, 1, { subject: `o${i}`, object, user_id: 'bob' }));
    if (i === 3) await engine.write('flush', contextOf(1), {});
  }
  await engine.abandon();
  return prepared;
}

const countOf = (engine: Engine, hashes: readonly string[]): number =>
  hashes.filter((hash) => engine.store.findOrdinal(1, hash) !== undefined).length;

test('an erasure killed at any step is complete or not begun, and gets completed', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const directory = temporaryDirectory(t);
  const base = join(directory, 'base');
  const prepared = await prepare(base);
  const all = prepared.scope.length;
  const seed = Date.now();
  const rounds = runs(6);
  let cut = 0;
  for (let round = 0; round < rounds; round++) {
    // Spread over all steps, at a different one in each range every time.
    const steps = 1 + Math.floor(((round + ((seed * 7) % 97) / 97) * STEPS_MAX) / rounds);
    const what = `cut at step ${steps}`;
    const root = join(directory, 'root');
    cpSync(base, root, { recursive: true });
    const { done, signal, stderr } = await live({ root, steps });
    const ended = done.some((one) => 'ended' in one);
    assert.equal(signal, ended ? null : 'SIGKILL', `${what}: ${stderr}`);
    if (!ended) cut += 1;
    const engine = await openShard(root);
    const [scope, user, naming] = [prepared.scope, prepared.user, prepared.naming].map((hashes) =>
      countOf(engine, hashes),
    );
    assert.ok(scope === 0 || scope === all, `${what}: ${scope} of the scope are left`);
    assert.ok(user === 0 || user === all, `${what}: ${user} of the user are left`);
    assert.ok(naming === 0 || naming === all, `${what}: ${naming} that name the user are left`);
    assert.equal(countOf(engine, prepared.others), all, what);
    const context = contextOf(1);
    const again = await engine.write('eraseScope', context, { path: 'acme' });
    const proof = await engine.write('eraseUser', context, { userId: 'ann' });
    for (const one of done) {
      if ('scope' in one) {
        assert.equal(scope, 0, `${what}: an acknowledged erasure`);
        assert.deepEqual(
          new Set(again.proofs.map(({ keyFingerprint }) => keyFingerprint)).has(one.scope[0]!),
          true,
          what,
        );
      }
      if ('user' in one) assert.deepEqual([user, proof.keyFingerprint, proof.count], [0, one.user, 0], what);
    }
    assert.equal(proof.count, user, what);
    const { keyFingerprint } = proof;
    const rest = await engine.write('redactUser', context, { userId: 'ann', keyFingerprint });
    assert.deepEqual(rest, { redacted: naming, removed: naming, more: false }, what);
    await until(engine, () => engine.read('statistics', context, {}).purgePending === 0);
    assert.deepEqual((await engine.write('verify', contextOf(0), {})).findings, [], what);
    assert.deepEqual(recalled(engine, 1, 'ann'), [], what);
    assert.equal(recalled(engine, 1, 'word0 word1 word2 word3 word4 word5').length, 2 * all, what);
    assert.equal((await engine.write('verifyAudit', context, {})).valid, true, what);
    await engine.close();
    rmSync(root, { recursive: true });
  }
  t.diagnostic(`${cut} of ${rounds} were cut off`);
  assert.ok(cut > 0, 'some erasures were interrupted');
});

test('a killed server completes an erasure over four partitions by itself', { timeout: TIMEOUT_MS }, async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const start = () => startServerProcess({ directory, flags: ['--shards', '4', '--workers', '2'] });
  let server = await start();
  t.after(() => server.kill());
  const say = async (verb: string, path: string, json?: unknown) => {
    const answer = await ask(server, verb, path, json);
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  let completed = 0;
  for (let round = 0; round < runs(2); round++) {
    const M = `/memories/m${round}`;
    await say('POST', '/memories', { id: `m${round}`, partitions: 4 });
    const grains = Array.from({ length: 160 }, (_, i) => ({
      grain_type: 'belief',
      fields: {
        subject: i % 4 === 3 ? 'ann' : `s${i}`,
        relation: 'knows',
        object: `o${i}`,
        session_id: `s${i % 16}`,
        user_id: i % 4 === 3 ? 'bob' : 'ann',
      },
    }));
    await say('POST', `${M}/batch-add`, { grains });
    const bound = { name: "ann's", scopes: ['read'], memory_id: `m${round}`, user_id: 'ann' };
    const key: string = (await say('POST', '/auth/keys', bound)).raw_key;
    const keyStatus = async (): Promise<number> =>
      (await ask({ http: server.http, key }, 'GET', `${M}/grains?limit=1`)).status;
    assert.equal(await keyStatus(), 200);
    const erasing = ask(server, 'POST', `${M}/forget`, { user_id: 'ann' }).catch(() => undefined);
    // Waits for as long as this many other answers take.
    for (let other = 0; other < 2 + round * 8; other++) await ask(server, 'GET', '/health');
    await server.kill();
    const answer = await erasing;
    server = await start();
    const left = async (): Promise<number> => (await say('GET', `${M}/grains?user_id=ann&limit=1`)).total;
    const before = await left();
    assert.ok(before === 0 || before === 120, `round ${round}: ${before} are left`);
    if (answer !== undefined && answer.status < 300) assert.equal(before, 0, `round ${round}: it was answered`);
    if (before === 0) completed += 1;
    // The start continued the erasure before it served.
    assert.equal(await keyStatus(), before === 0 ? 401 : 200, `round ${round}: the person's key`);
    const proof = await say('POST', `${M}/forget`, { user_id: 'ann' });
    assert.equal(proof.count, before);
    assert.equal(await keyStatus(), 401);
    assert.ok(!JSON.stringify(await say('GET', '/auth/keys')).includes("ann's"));
    assert.match(proof.key_fingerprint, /^[0-9a-f]{16}$/);
    assert.equal((await say('GET', `${M}/grains?subject=ann&limit=1`)).total, 0);
    assert.equal((await say('GET', `${M}/grains?subject=erased:${proof.key_fingerprint}&limit=1`)).total, 40);
    assert.equal((await say('POST', `${M}/app/exec`, { command: 'verify_audit_chain', args: {} })).result.valid, true);
  }
  assert.equal((await say('POST', '/memories/m0/app/exec', { command: 'verify', args: {} })).result.finding_count, 0);
  t.diagnostic(`${completed} were complete before they were asked for again`);
});
