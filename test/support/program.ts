// The program that tests start as processes and threads. A run of many files builds it first (scripts/run-tests.ts), since
// it starts in half the time of its sources; a file that runs alone starts the sources.
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '../..');
/** Folder of the built package, where the run has one. */
export const BUILT = process.env['TEST_BUILD'];

/** The command line in its sources, for tests that look at modules or change them. */
export const SOURCES_MAIN = join(ROOT, 'src/cli/main.ts');
export const MAIN = BUILT === undefined ? SOURCES_MAIN : join(BUILT, 'dist/cli/main.js');

/** They replace functions of the program's modules: the build has a copy of each that shares the modules. */
const REPLACING = /-cut\.ts$|local-bug\.ts$/;

/** The file or address to load before `MAIN` for `preload`, a path or an address. */
export function preloadOfMain(preload: string): string {
  return BUILT !== undefined && REPLACING.test(preload) ? pathToFileURL(builtOf(BUILT, preload)).href : preload;
}

/** The file to start for a process of a test that is built with the program (CHILDREN of scripts/run-tests.ts). */
export function childFile(path: string): string {
  return BUILT === undefined ? path : builtOf(BUILT, path);
}

function builtOf(built: string, path: string): string {
  return join(built, 'dist/tests', `${basename(path, '.ts')}.js`);
}

const SERVER = pathToFileURL(join(ROOT, 'src/server/')).href;

/** The built file of a thread that serves shards; other entry files as they are. */
export function threadFile(entry: string): string {
  return entry === `${SERVER}shard-worker.ts` ? serverThread('shard-worker') : entry;
}

/** The address of a thread of a server, in the build where the run has one. */
export function serverThread(name: string): string {
  return BUILT === undefined ? `${SERVER}${name}.ts` : pathToFileURL(join(BUILT, 'dist/server', `${name}.js`)).href;
}
