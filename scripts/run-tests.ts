// `node scripts/run-tests.ts [FLAGS of node's test runner] GLOB…`: runs test files, several in a process, as one run of
// node's test runner, which prints all results and their sums. `--long=only` and `--long=none` choose among the files
// of the globs; `--store=postgres` gives servers databases, and without globs takes the files of stored-tests.ts, with `--part`
// a part of them. `--all` takes all files of the globs and that part, four processes at a time, whatever other flags say;
// `--share=3/6` takes the third of six shares of the long ones and of that part, and all others.
// `--checked` runs the checks of types and style beside the tests, which end when a check fails. `--cpu` prints CPU times.
// `--coverage`, or TEST_COVERAGE=1 in the environment, prints what the quick tests among them cover. To run one file, give it
// to `node --test`. Processes and threads that tests start run the built program, which starts in half the time of the sources.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { build } from './build.ts';
import { coverageReport, quickTests } from './coverage.ts';
import { chosen, isLong, LONG, shareOf } from './long-tests.ts';
import { STORED_PART, STORED_TESTS } from './stored-tests.ts';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * MB for new objects from the start, in every test file's process: while modules load, smaller spaces are full, and
 * collected, many times.
 */
const NEW_OBJECTS = '--min-semi-space-size=16';

/** Files that run in a process of their own, the longest first. */
const ALONE: readonly string[] = [
  'test/bench-smoke.test.ts', // takes the longest
  'test/hostile/stalls.test.ts',
  'test/conformance/conformance.test.ts',
  'test/cli-server.test.ts',
  'src/server/http/listener-waits.test.ts', // waits for half a minute
  'src/engine/crypto/gcm-batch.test.ts', // counts the memories of a kernel that a process makes once
  'test/package.test.ts', // changes the environment of everything it starts
];

/** Files with `t.assert.snapshot`: node names the file of snapshots after the file that it started. */
const usesSnapshots = (file: string): boolean => readFileSync(join(ROOT, file), 'utf8').includes('t.assert.snapshot(');

/**
 * How many long files share a process: the last processes to end should end together, and a long file takes far longer than
 * the start of its process.
 */
const LONG_SHARING = 4;
/** How many other files share a process, by folder: few where they start servers. The first folder that fits counts. */
const SHARING: readonly (readonly [folder: string, files: number])[] = [
  ['test/', 10],
  ['src/server/', 24],
  ['src/shards/', 10],
  ['src/', 40],
];

/** Test files that share a process. */
interface Group {
  readonly files: readonly string[];
  /** Coverage by them counts. */
  readonly covers: boolean;
  /** Their servers have databases, and those of the other groups have none. */
  readonly isStored: boolean;
}

/** In the order of their starts: long ones first, so that the last ones to end are short. */
function groupsOf(files: readonly string[]): readonly (readonly string[])[] {
  const alone = ALONE.filter((file) => files.includes(file)).map((file) => [file]);
  const left = files.filter((file) => !ALONE.includes(file));
  const byFolder = Map.groupBy(
    left.filter((file) => !isLong(file)),
    (file) => SHARING.find(([folder]) => file.startsWith(folder)) ?? (['', 1] as const),
  );
  const shared = [...SHARING].flatMap((sharing) => parted(byFolder.get(sharing) ?? [], sharing[1]));
  return [...alone, ...parted(left.filter(isLong), LONG_SHARING), ...shared];
}

function parted(files: readonly string[], size: number): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(files.length / size) }, (_, i) => files.slice(i * size, (i + 1) * size));
}

/** How many files of the stored part share a process: they take as long as long ones. */
const STORED_SHARING = 3;

/**
 * The groups of a run, in the order of their starts. Files whose coverage counts share no process with others, which would
 * only take longer.
 */
function allGroups(
  files: readonly string[],
  covered: ReadonlySet<string>,
  storedPart: readonly string[],
): readonly Group[] {
  const groups = [false, true].flatMap((covers) =>
    groupsOf(files.filter((file) => covered.has(file) === covers)).map((group) => ({
      files: group,
      covers,
      isStored: false,
    })),
  );
  const stored = parted(storedPart, STORED_SHARING).map((group) => ({ files: group, covers: false, isStored: true }));
  const long = groups.filter((group) => group.files.some((file) => isLong(file) || ALONE.includes(file)));
  return [...long, ...stored, ...groups.filter((group) => !long.includes(group))];
}

/** Writes the file that runs a group. The runner starts files in the order of their names. */
function entryOf({ files, covers, isStored }: Group, i: number, folder: string): string {
  const entry = join(folder, `${String(i).padStart(3, '0')}-${files[0]?.replaceAll('/', '-')}.mjs`);
  const settings = isStored ? `process.env.TEST_STORE = 'postgres';\n` : '';
  const coverage = covers ? `import '${support('coverage.ts')}';\n` : '';
  const prefix = JSON.stringify(isStored ? 'on PostgreSQL: ' : '');
  // Modules of tests read the settings when they are loaded, which group.ts does later.
  const code = `import { runFiles } from '${support('group.ts')}';\n${settings}await runFiles(${JSON.stringify(files)}, ${prefix});\n`;
  writeFileSync(entry, `${coverage}${code}`);
  return entry;
}

function support(name: string): string {
  return pathToFileURL(join(ROOT, 'test/support', name)).href;
}

/** Test modules, loaded before the program to replace functions of its modules. */
const PRELOADS = ['test/crash/*-cut.ts', 'test/faults/local-bug.ts'];
/** Processes of tests that run modules of the program, which start in half the time when they are built. */
const CHILDREN = [
  'test/crash/{engine,erasure,vector}-child.ts',
  'test/faults/{killed-upload,postgres}-child.ts',
  'test/hostile/victim-child.ts',
];
/** Files of which the build for tests is made, besides installed ones. */
const BUILT_FROM = [
  'src/**/*',
  'console/**/*',
  'docs/**/*',
  'docs/.vitepress/**/*',
  'scripts/{build,build-console,build-docs,compress}.ts',
  'package-lock.json',
  'test/crash/{cut,places}.ts',
  'test/support/{eventually,letters,shard}.ts',
  ...PRELOADS,
  ...CHILDREN,
];

/** Builds of a day ago are removed. */
const BUILD_KEPT_MS = 86_400_000;

/**
 * The folder of the package built from the sources as they are, made unless an earlier run has made it. Servers that run from
 * their sources find the console and the documents that it was made of, and need not build them again.
 */
async function builtPackage(): Promise<string> {
  const digest = createHash('sha256');
  for (const file of globSync(BUILT_FROM, { cwd: ROOT }).toSorted()) {
    if (statSync(join(ROOT, file)).isDirectory()) continue;
    digest.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  }
  const builds = join(ROOT, 'node_modules/.cache/granary-builds');
  const folder = join(builds, digest.digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  for (const old of existsSync(builds) ? readdirSync(builds) : [])
    if (Date.now() - statSync(join(builds, old)).mtimeMs > BUILD_KEPT_MS)
      rmSync(join(builds, old), { recursive: true, force: true });
  // Another run may build the same at the same time.
  const making = `${folder}-${process.pid}`;
  const ofTests = globSync([...PRELOADS, ...CHILDREN], { cwd: ROOT }).map((file) => join(ROOT, file));
  await build(join(making, 'dist'), { ofTests, keepsSites: true });
  copyFileSync(join(ROOT, 'package.json'), join(making, 'package.json'));
  moveUnlessThere(making, folder);
  return folder;
}

/** Another run may have made the folder meanwhile. */
function moveUnlessThere(making: string, folder: string): void {
  try {
    renameSync(making, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(making, { recursive: true, force: true });
  }
}

/** Of the path of a Unix socket. */
const SOCKET_BYTES_MAX = 104;

/**
 * One PostgreSQL for all files of the run that use one: its start takes as long as many a file. It starts when the first of
 * them asks at the socket for its place, and ends with this process.
 */
function offerPostgres(path: string): void {
  let place: Promise<object> | undefined;
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    place ??= startPostgres().catch((error: unknown) => ({ error: String(error) }));
    void place.then((found) => socket.end(JSON.stringify(found)));
  });
  server.listen(path);
  server.unref();
}

async function startPostgres(): Promise<object> {
  const { PostgresInstance } = await import('../test/support/postgres.ts');
  return (await PostgresInstance.start()).place;
}

for (const path of [...ALONE, ...LONG])
  if (!existsSync(join(ROOT, path))) throw new Error(`scripts/run-tests.ts names ${path}, which is not there`);
const OWN_FLAG = /^--(all$|checked$|cpu$|coverage$|part$|long=|share=|store=)/;
/** Processes at a time beside long tests, which wait for clocks, kills and timeouts. */
const WIDE_CONCURRENCY = '--test-concurrency=4';
const words = process.argv.slice(2);
const flags = words.filter((word) => word.startsWith('--'));
const optionOf = (name: string): string | undefined =>
  flags.findLast((flag) => flag.startsWith(name))?.slice(name.length);
const store = optionOf('--store=');
if (store !== undefined && store !== 'postgres') throw new Error(`--store is only postgres, not ${store}`);
const isStored = store !== undefined;
const asked = words.filter((word) => !word.startsWith('--'));
const globs = isStored && asked.length === 0 ? (flags.includes('--part') ? STORED_PART : STORED_TESTS) : asked;
for (const glob of globs) if (globSync(glob, { cwd: ROOT }).length === 0) throw new Error(`no file fits ${glob}`);
const isAll = flags.includes('--all');
const share = isAll ? undefined : optionOf('--share=');
const isWide = isAll || share !== undefined;
const files = chosen([...new Set(globSync(globs, { cwd: ROOT }))].toSorted(), isWide ? share : optionOf('--long='));
if (files.length === 0) throw new Error(`no file fits ${globs.join(' ')}`);
// A selection may leave nothing of a file to run, and then node runs no hook of it, for which the next file waits.
const isSelection = flags.some((flag) => /^--test-(name-pattern|skip-pattern|only)/.test(flag));
const grouped = files.filter((file) => !isSelection && !usesSnapshots(file));

const folder = mkdtempSync(join(tmpdir(), 'granary-tests-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const covered = flags.includes('--coverage') || process.env['TEST_COVERAGE'] === '1' ? quickTests() : new Set<string>();
const showsCoverage = grouped.some((file) => covered.has(file));
const allStored = isWide ? globSync(STORED_PART, { cwd: ROOT }).toSorted() : [];
const storedPart = share === undefined ? allStored : shareOf(allStored, share);
const entries = allGroups(grouped, covered, storedPart).map((group, i) => entryOf(group, i, folder));
const showsCpu = flags.includes('--cpu');
const cpuFile = join(folder, 'cpu.ndjson');
const coverageFolder = join(folder, 'coverage');
mkdirSync(coverageFolder);
const preloaded = ['compile-cache.ts', 'hang.ts'].flatMap((name) => ['--import', support(name)]);
const ungrouped = files.filter((file) => !grouped.includes(file));
const checks = flags.includes('--checked') ? runChecks() : undefined;
const built = await builtPackage();
const postgresSocket = join(folder, 'postgres.sock');
const offersPostgres = process.platform !== 'win32' && Buffer.byteLength(postgresSocket) < SOCKET_BYTES_MAX;
if (offersPostgres) offerPostgres(postgresSocket);
const passed = flags.filter((flag) => !OWN_FLAG.test(flag)).concat(isWide ? [WIDE_CONCURRENCY] : []);
const runner = spawn(process.execPath, [NEW_OBJECTS, ...preloaded, '--test', ...passed, ...entries, ...ungrouped], {
  cwd: ROOT,
  stdio: ['inherit', showsCoverage ? 'pipe' : 'inherit', 'inherit'],
  env: {
    ...process.env,
    TEST_BUILD: built,
    ...(showsCpu ? { TEST_CPU_FILE: cpuFile } : {}),
    ...(offersPostgres ? { TEST_POSTGRES_SOCKET: postgresSocket } : {}),
    ...(isStored ? { TEST_STORE: 'postgres' } : {}),
    TEST_COVERAGE_FOLDER: coverageFolder,
  },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner.kill(signal));
void checks?.then((found) => found !== undefined && runner.kill());
const exit = once(runner, 'exit');
const closing = runner.stdout === null ? [] : await printedUntilSums(runner.stdout);
const [code] = await exit;
process.exitCode = typeof code === 'number' ? code : 1;
try {
  if (showsCoverage) console.log(await coverageReport(coverageFolder));
} catch (error) {
  console.log(error);
  process.exitCode = 1;
}
if (closing.length > 0) console.log(closing.join('\n'));
if (showsCpu) process.stdout.write(cpuTable(readFileSync(cpuFile, 'utf8')));
const found = await checks;
if (found !== undefined) {
  process.stdout.write(`${found}npm run check failed, and ended the tests\n`);
  process.exitCode = 1;
}

/** `npm run check`, which leaves a part of a core to the tests. Resolves to what it said if it failed. */
async function runChecks(): Promise<string | undefined> {
  const check = spawn('npm', ['run', '-s', 'check'], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const said: Buffer[] = [];
  for (const output of [check.stdout, check.stderr]) output.on('data', (part: Buffer) => said.push(part));
  const [code] = await once(check, 'close');
  return code === 0 ? undefined : Buffer.concat(said).toString();
}

/** Prints what the runner says until its sums, and gives the lines from there on: they end the output of a run. */
async function printedUntilSums(output: NodeJS.ReadableStream): Promise<readonly string[]> {
  const held: string[] = [];
  for await (const line of createInterface({ input: output }))
    if (held.length > 0 || /^ℹ tests \d/.test(line)) held.push(line);
    else console.log(line);
  return held;
}

/** CPU seconds of each file and of each folder, the most first. */
function cpuTable(lines: string): string {
  const msOf = new Map<string, number>();
  for (const line of lines.trim().split('\n')) {
    const { what, ms } = JSON.parse(line) as { what: string; ms: number }; // written by group.ts
    const folder = /^(src|test)\/(?:[^/]+\/)?/.exec(what)?.[0] ?? what;
    for (const name of new Set([folder, what])) msOf.set(name, (msOf.get(name) ?? 0) + ms);
  }
  return [...msOf]
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, ms]) => `${(ms / 1_000).toFixed(1).padStart(7)} CPU s  ${name}\n`)
    .join('');
}
