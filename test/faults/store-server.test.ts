// Kills servers whose data lie in PostgreSQL, and the database, under load over HTTP. Every acknowledged write must be there.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { NO_POSTGRES, PostgresInstance } from '../support/postgres.ts';
import { runs } from '../support/runs.ts';
import { ask, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const MASTER = 'c0ffee0123456789'.repeat(4);
const M = '/memories/default';
/** Writes that a round must have acknowledged before its kill. */
const ADDED = 150;
const WRITERS = 16;
const RETRY_MS = 20;
const FLAGS = ['--shards', '2', '--workers', '1', '--store-lease-ms', '5000'];

/** Adds beliefs over HTTP until it is told to stop, whatever becomes of the server. */
class Load {
  /** Hashes by number, of the acknowledged beliefs. */
  readonly acknowledged = new Map<number, string>();
  #next = 0;
  #isOver = false;
  #server: Pick<ServerProcess, 'http' | 'key'> | undefined;
  readonly #writers: Promise<void>[];

  constructor() {
    this.#writers = Array.from({ length: WRITERS }, () => this.#write());
  }

  to(server: Pick<ServerProcess, 'http' | 'key'> | undefined): void {
    this.#server = server;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#writers);
  }

  async #write(): Promise<void> {
    while (!this.#isOver) {
      const server = this.#server;
      if (server === undefined) {
        await pause(RETRY_MS);
        continue;
      }
      const number = this.#next++;
      const fields = { subject: `s${number}`, relation: 'is', object: `thing ${number}` };
      try {
        const { status, body } = await ask(server, 'POST', `${M}/add`, { grain_type: 'belief', fields });
        if (status < 300) this.acknowledged.set(number, body.blob_hash);
        else await pause(RETRY_MS);
      } catch {
        // The connection ended: nobody knows whether it was written.
        await pause(RETRY_MS);
      }
    }
  }

  /** Resolves when so many more writes were acknowledged. */
  async go(count: number): Promise<void> {
    const from = this.acknowledged.size;
    await eventually('writes are acknowledged', () => this.acknowledged.size >= from + count);
  }
}

test('no acknowledged write is lost when nodes, the database, or both are killed', { skip: NO_POSTGRES }, async (t) => {
  const instance = await PostgresInstance.start({ isDurable: true });
  const { url } = await instance.database();
  const directory = join(temporaryDirectory(t), 'data');
  let server: ServerProcess | undefined;
  const start = async (): Promise<ServerProcess> => {
    server = await startServerProcess({
      directory,
      flags: FLAGS,
      env: { GRANARY_STORE: url, GRANARY_MASTER_KEY: MASTER },
    });
    return server;
  };
  t.after(() => server?.kill());
  let node = await start();
  const load = new Load();
  t.after(() => load.end());
  load.to(node);
  const killDatabase = async (): Promise<void> => {
    instance.kill();
    await eventually('the database has ended', () => !instance.isRunning);
  };
  const rounds: readonly (readonly [string, () => Promise<void>])[] = [
    ['node', () => node.kill()],
    ['database', killDatabase],
    ['node, then an empty directory', () => node.kill()],
    ['both', () => Promise.all([node.kill(), killDatabase()]).then(() => undefined)],
    ['database', killDatabase],
    ['node', () => node.kill()],
  ];
  const campaign = Array.from({ length: runs(1) }, () => rounds).flat();
  for (const [name, kill] of campaign) {
    await load.go(runs(ADDED));
    await kill();
    if (!instance.isRunning) instance.restart();
    if (node.child.exitCode !== null || node.child.signalCode !== null) {
      load.to(undefined);
      if (name.includes('empty')) rmSync(directory, { recursive: true });
      node = await start();
      load.to(node);
    }
  }
  await load.go(ADDED);
  await load.end();
  assert.equal(await node.stop(), 0);

  // Everything from the database alone.
  rmSync(directory, { recursive: true });
  node = await start();
  const numbers = [...load.acknowledged];
  const lost: number[] = [];
  for (let at = 0; at < numbers.length; at += WRITERS)
    await Promise.all(
      numbers.slice(at, at + WRITERS).map(async ([number, hash]) => {
        const { status, body } = await ask(node, 'GET', `${M}/grains/${hash}`);
        if (status !== 200 || body.fields?.object !== `thing ${number}`) lost.push(number);
      }),
    );
  assert.deepEqual(lost, []);
  const stats = await ask(node, 'GET', `${M}/stats`);
  const total = stats.body.total_grains as number;
  // Writes in flight at a kill may be there too, once.
  assert.ok(total >= numbers.length && total <= numbers.length + campaign.length * WRITERS, `${total} grains`);
  const verified = await ask(node, 'POST', `${M}/app/exec`, { command: 'verify', args: {} });
  assert.equal(verified.body.result?.finding_count, 0, JSON.stringify(verified.body));
  const chain = await ask(node, 'POST', `${M}/app/exec`, { command: 'verify_audit_chain', args: {} });
  assert.equal(chain.body.result?.valid, true, JSON.stringify(chain.body));
  t.diagnostic(`${numbers.length} acknowledged over ${campaign.length} kills, 0 lost; ${total} grains`);
  assert.equal(await node.stop(), 0);
});
