// A rolling upgrade: two neighbouring versions of the program serve one store while nodes are replaced one after the other, under load.
// The next version is a copy of the sources with a higher version, protocol between nodes and version of the tables.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { readFleet } from '../../src/engine/log/postgres/fleet.ts';
import { SCHEMA_SERVES_FROM, SCHEMA_VERSION } from '../../src/engine/log/postgres/schema.ts';
import { CONTROL_SHARD } from '../../src/server/control/open.ts';
import { VERSION } from '../../src/server/version.ts';
import { LINK_PROTOCOL } from '../../src/shards/nodes/link/handshake.ts';
import { Callers } from '../crash/nodes/caller.ts';
import { Load } from '../crash/nodes/load.ts';
import { verdictOn } from '../crash/nodes/verdict.ts';
import { eventually } from '../support/eventually.ts';
import { testDatabase } from '../support/postgres.ts';
import { Random } from '../support/random.ts';
import { NotStarted, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MASTER = 'c0ffee0123456789'.repeat(4);
const SOME = 60;
/** 24 clients call some hundred times while a shard moves, and shards move for most of the test. */
const PAUSE_MS = 150;
const NEXT = '99.0.0';

/** A later version of the program in `folder`. Returns its entry file. */
function laterVersion(folder: string, version: string, protocol: number): string {
  cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const change = (file: string, from: string | RegExp, to: string): void => {
    const text = readFileSync(join(file.startsWith('src/') ? folder : ROOT, file), 'utf8');
    const changed = text.replace(from, to);
    assert.notEqual(changed, text, `${file} has ${from}`);
    writeFileSync(join(folder, file), changed);
  };
  change('package.json', `"version": "${VERSION}"`, `"version": "${version}"`);
  change('src/shards/nodes/link/handshake.ts', `LINK_PROTOCOL = ${LINK_PROTOCOL}`, `LINK_PROTOCOL = ${protocol}`);
  const tables = 'src/engine/log/postgres/schema.ts';
  change(tables, `SCHEMA_VERSION = ${SCHEMA_VERSION}`, `SCHEMA_VERSION = ${SCHEMA_VERSION + 1}`);
  change(tables, /\n\];\n$/, "\n  [`ALTER TABLE granary_nodes ADD COLUMN note text NOT NULL DEFAULT ''`],\n];\n");
  return join(folder, 'src/cli/main.ts');
}

test('nodes are replaced by those of the next version, one after the other, and no request fails', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const { url } = found;
  const root = temporaryDirectory(t);
  const key = `gr_${randomBytes(32).toString('hex')}`;
  const env = { GRANARY_STORE: url, GRANARY_MASTER_KEY: MASTER, GRANARY_BOOTSTRAP_KEY: key };
  const database = await Database.open(url);
  t.after(() => database.close());
  const running = new Map<string, ServerProcess>();
  /** Where a load balancer sends requests: a node that is about to end gets no new ones. */
  const service = {
    key,
    get addresses() {
      return [...running.values()].map(({ http }) => http);
    },
  };
  const start = async (name: string, main?: string): Promise<void> => {
    const server = await startServerProcess({
      directory: join(root, name),
      flags: ['--shards', '4', '--workers', '1', '--node-listen', '127.0.0.1:0', '--store-lease-ms', '6000'],
      env,
      ...(main === undefined ? undefined : { main }),
    });
    t.after(() => server.kill());
    running.set(name, server);
  };
  const stop = async (name: string): Promise<void> => {
    const server = running.get(name)!;
    running.delete(name);
    assert.equal(await server.stop(), 0, server.output());
  };
  /** The versions of the nodes that have shards, and that of the one that runs the server. */
  const versions = async () => {
    const { nodes, shards } = await readFleet(database);
    const held = (isControl: boolean) =>
      new Set(
        shards
          .filter((row) => (row.shard === CONTROL_SHARD) === isControl && row.leaseMs > 0)
          .map(({ owner }) => owner),
      );
    const of = (owners: ReadonlySet<string | undefined>) =>
      nodes
        .filter(({ id }) => owners.has(id))
        .map(({ version }) => version)
        .sort();
    return { shards: of(held(false)), server: of(held(true)) };
  };
  const become = (what: string, wanted: Awaited<ReturnType<typeof versions>>) =>
    eventually(what, async () => JSON.stringify(await versions()) === JSON.stringify(wanted));

  const next = laterVersion(join(root, 'next'), NEXT, LINK_PROTOCOL + 1);
  await start('a');
  await start('b');
  await become('both have shards', { shards: [VERSION, VERSION], server: [VERSION] });
  const random = new Random(7);
  const callers = new Callers(service, random);
  t.after(() => callers.end());
  const load = new Load(callers, random, PAUSE_MS);
  await load.start();
  await load.go(SOME);

  // Two versions on is too far, before it has changed anything.
  const far = laterVersion(join(root, 'far'), '100.0.0', LINK_PROTOCOL + 2);
  const migrated = await promisify(execFile)(process.execPath, [next, 'store', 'migrate', '--json'], {
    env: { ...process.env, ...env },
  });
  assert.deepEqual(JSON.parse(migrated.stdout), { from: SCHEMA_VERSION, to: SCHEMA_VERSION + 1 });
  const refused = await start('far', far).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(refused instanceof NotStarted && refused.exitCode === 1, String(refused));
  assert.match(refused.output, /VAL-E001.*only neighbouring versions serve together/);
  await load.go(SOME);

  await stop('b');
  await start('b', next);
  await become('the old version calls the new one', { shards: [VERSION, NEXT].sort(), server: [VERSION] });
  await load.go(2 * SOME);

  // The node that runs the server ends. It comes back in the old version, as after a decision to go back.
  await stop('a');
  await start('a');
  await become('the new version calls the old one', { shards: [VERSION, NEXT].sort(), server: [NEXT] });
  await load.go(2 * SOME);

  await stop('a');
  await start('a', next);
  await become('all are new', { shards: [NEXT, NEXT], server: [NEXT] });
  await load.go(SOME);

  await load.end();
  const failures = Object.fromEntries(callers.failures);
  t.diagnostic(`${load.acknowledged} acknowledged; attempts that were sent again: ${JSON.stringify(failures)}`);
  const { 'broken connection': broken = 0, ...answered } = failures;
  const said = JSON.stringify(Object.fromEntries(callers.said));
  assert.deepEqual(answered, {}, `no request was refused or left without an answer: ${said}`);
  // HTTP lets a server close a connection while a request is on its way: the caller sends it again under the same key.
  assert.ok(broken <= load.acknowledged / 100, `${broken} connections broke`);
  const { problems, ...counts } = await verdictOn(load, callers);
  assert.deepEqual([...problems, ...load.problems, ...callers.problems], []);
  assert.deepEqual([counts.lost, counts.twice], [0, 0]);
  assert.equal(SCHEMA_SERVES_FROM <= SCHEMA_VERSION, true);
});
