// Builds the published package: the command line, the threads and the parts that load on demand, each with its modules in
// one file or in files that they share, the data files, the console and the documents. A module of its own costs a thread a
// tenth of a millisecond, so the built program starts in half the time of the sources. `npm run build` writes dist/, and
// with `-- --kept-sites` it keeps the console and the documents (keepsSites); tests build into other folders.
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { type ChunkingContext, type CodeSplittingGroup, type Plugin, rolldown } from 'rolldown';
import { DIGESTS } from '../src/server/http/uws-digests.ts';
import { patchElf } from '../src/server/http/uws-patch.ts';
import { CONSOLE_RECIPE } from '../src/server/site/console.ts';
import { DOCS_RECIPE } from '../src/server/site/docs.ts';
import { buildFromSources, type Recipe, sourceBuild } from '../src/server/site/source-build.ts';
import { buildConsole } from './build-console.ts';
import { buildDocs } from './build-docs.ts';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = join(ROOT, 'src');
/** Data files that the code reads at run time, relative to its own location. */
const DATA = ['server/gen/memory.binpb'];

/** The file that programs import. It imports no other file in its declarations, so its types are generated alone. */
const DOOR = 'index.ts';
const COMMANDS = 'cli/main.ts';
/** Loaded by every command, and the only thing that the version needs. */
const PROGRAM = 'cli/program.ts';
const SERVER = 'server/main.ts';
const WORKER = 'server/shard-worker.ts';
const ENGINE = 'engine/engine.ts';
const DECLARE = '--declaration --emitDeclarationOnly --isolatedDeclarations --noResolve --noCheck'.split(' ');
const AS_SOURCES = '--ignoreConfig --target es2024 --module nodenext --allowImportingTsExtensions'.split(' ');

/** Files that are started or loaded by a name which no import contains: threads, and modules on demand. */
const NAMED_FILE =
  /(?:threadEntry\('([^']+)', import\.meta\.url\)|\(import\.meta\.url, '(\.[^']+)'\)|'(\.\/[^']+)\.js', import\.meta\.url\))/g;

/** Stands for the folder of the build until a file knows its place in it. */
const FOLDER = '__BUILD_FOLDER__';

export interface BuildOptions {
  /**
   * Paths of further entries, which tests load before the program to replace functions of its modules, or start as
   * processes of their own: they share the modules, and are built into `tests/`.
   */
  readonly ofTests?: readonly string[] | undefined;
  /**
   * Takes the console and the documents from the cache of servers that run from these sources, and leaves them there.
   * A package that is published is built anew.
   */
  readonly keepsSites?: boolean | undefined;
}

/** Builds into `folder`, an absolute path, which is emptied first. */
export async function build(folder: string, { ofTests = [], keepsSites = false }: BuildOptions = {}): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const bundle = await rolldown({
    input: Object.fromEntries([
      ...entries().map((file) => [file.replace(/\.ts$/, ''), join(SOURCES, file)]),
      ...ofTests.map((file) => [`tests/${basename(file, '.ts')}`, file]),
    ]),
    platform: 'node',
    external: (name, importer) =>
      !name.startsWith('.') && !name.startsWith(ROOT) && !isBundled(name) && !isExemplars(name, importer),
    // Its CommonJS form finds its own files when it runs, which a bundle does not have.
    resolve: { alias: { 'jsonc-parser': join(ROOT, 'node_modules/jsonc-parser/lib/esm/main.js') } },
    // Programs and `require` see what an entry exports, and no more.
    preserveEntrySignatures: 'strict',
    plugins: [inPlace, withoutExemplars],
    onLog: (level, log) => {
      throw new Error(`${level} of the build: ${log.message}`);
    },
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
    codeSplitting: { groups: partGroups() },
    keepNames: true,
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await bundle.close();
  for (const file of DATA) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(SOURCES, file), join(folder, file));
  }
  copyParts(folder);
  copyLicences(folder);
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, join('src', DOOR), ...DECLARE, ...AS_SOURCES, '--outDir', folder], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (keepsSites) {
    for (const recipe of [CONSOLE_RECIPE, DOCS_RECIPE]) await copyKeptSite(recipe, join(folder, recipe.name));
  } else {
    await buildConsole(join(folder, 'console'));
    await buildDocs(join(folder, 'docs'));
  }
}

async function copyKeptSite(recipe: Recipe, folder: string): Promise<void> {
  const kept = sourceBuild(recipe);
  if (!kept.isThere) await buildFromSources(kept);
  cpSync(kept.folder, folder, { recursive: true });
}

/**
 * Packages that become parts of the build instead of dependencies: what is used of them has a tenth of their size, or every
 * start loads their many modules. Their licences are in the folder licenses of the build.
 */
export const BUNDLED: readonly string[] = [
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/core',
  'zod',
  'jsonc-parser',
  'smol-toml',
  'libphonenumber-js',
  'chrono-node',
  'compromise',
  'efrt',
  'grad-school',
  'suffix-thumb',
  '@ai-sdk/anthropic',
  '@ai-sdk/openai-compatible',
  '@ai-sdk/provider',
  '@ai-sdk/provider-utils',
  '@workflow/serde',
  'eventsource-parser',
  'onnxruntime-web',
  'onnxruntime-common',
  'cborg',
  '@bufbuild/protobuf',
  'busboy',
  'streamsearch',
  'commander',
  'prom-client',
  'tdigest',
  'bintrees',
  'typebox',
];

function isBundled(name: string): boolean {
  return BUNDLED.some((known) => name === known || name.startsWith(`${known}/`));
}

/**
 * Files that modules find beside themselves: of packages that hold a hundred megabytes for other uses, those that a server
 * reads. The binaries are those for the version of Node that this package brings, which runs the build, on every platform.
 */
const PARTS_OF_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'embed/builtin': ['onnxruntime-web/dist/ort-wasm-simd-threaded.{mjs,wasm}'],
  'server/http': [`uWebSockets.js/uws_*_${process.versions.modules}.node`],
};

function copyParts(folder: string): void {
  const packages = join(ROOT, 'node_modules');
  for (const [place, patterns] of Object.entries(PARTS_OF_PACKAGES)) {
    mkdirSync(join(folder, place), { recursive: true });
    for (const pattern of patterns) {
      const files = globSync(pattern, { cwd: packages });
      if (files.length === 0) throw new Error(`no file is ${pattern}: run npm ci`);
      for (const file of files) copyFileSync(join(packages, file), join(folder, place, basename(file)));
    }
  }
  patchListeners(join(folder, 'server/http'));
}

/** Makes the binaries for Linux load with older C libraries too, which a server would otherwise do at each start. */
function patchListeners(folder: string): void {
  for (const [name, { patched }] of Object.entries(DIGESTS)) {
    const file = join(folder, name);
    if (patched === undefined || !existsSync(file)) continue;
    const bytes = patchElf(readFileSync(file));
    if (hash('sha256', bytes, 'hex') !== patched) throw new Error(`the patched ${name} is not the expected file`);
    writeFileSync(file, bytes);
  }
}

function copyLicences(folder: string): void {
  for (const name of BUNDLED) {
    const file = licenceOf(name) ?? LICENCES[name];
    if (file === undefined) throw new Error(`${name} has no licence file`);
    const target = join(folder, 'licenses', `${name.replaceAll('/', '-')}.txt`);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(ROOT, file), target);
  }
}

/** Licences of packages that hold no file of it. */
const LICENCES: Readonly<Record<string, string>> = {
  '@ai-sdk/provider-utils': 'node_modules/@ai-sdk/provider/LICENSE',
  'onnxruntime-web': 'scripts/licences/onnxruntime.txt',
  'onnxruntime-common': 'scripts/licences/onnxruntime.txt',
  '@bufbuild/protobuf': 'scripts/licences/bufbuild-protobuf.txt',
};

function licenceOf(name: string): string | undefined {
  const folder = `node_modules/${name}`;
  const file = readdirSync(join(ROOT, folder)).find((one) => /^licen[cs]e/i.test(one));
  return file === undefined ? undefined : `${folder}/${file}`;
}

/** Below the sources. */
function entries(): string[] {
  const files = globSync('**/*.ts', { cwd: SOURCES }).filter((file) => !file.endsWith('.test.ts'));
  const named = files.flatMap((file) =>
    [...readFileSync(join(SOURCES, file), 'utf8').matchAll(NAMED_FILE)].map(([, ...names]) =>
      join(dirname(file), `${names.find((name) => name !== undefined)}.ts`),
    ),
  );
  return [...new Set([DOOR, COMMANDS, ...named])].sort();
}

/** Parts in the order in which they take modules: each has what later ones use. */
const PARTS = ['program', 'base', 'commands', 'shared', 'worker', 'server'] as const;
type Part = (typeof PARTS)[number];

/**
 * Puts modules into parts by the threads that load them at their start, so that each thread reads few files. Other modules
 * are split by the entries that use them.
 */
function partGroups(): CodeSplittingGroup[] {
  let parts: ReadonlyMap<string, Part> | undefined;
  return PARTS.map((part, i) => ({
    debugName: part,
    priority: PARTS.length - i,
    name: (module, context) => {
      parts ??= partsOf(context);
      return parts.get(module) === part ? part : null;
    },
  }));
}

function partsOf(context: ChunkingContext): ReadonlyMap<string, Part> {
  /** All modules that these import statically, with themselves. */
  const loadedBy = (...files: readonly string[]): ReadonlySet<string> => {
    const loaded = new Set(files.map((file) => join(SOURCES, file)));
    for (const module of loaded)
      for (const imported of context.getModuleInfo(module)?.importedIds ?? [])
        if (imported.startsWith(SOURCES)) loaded.add(imported);
    return loaded;
  };
  const worker = loadedBy(WORKER);
  const server = loadedBy(SERVER);
  const parts = new Map<string, Part>();
  for (const module of server) parts.set(module, worker.has(module) ? 'shared' : 'server');
  for (const module of worker) if (!server.has(module)) parts.set(module, 'worker');
  // Commands that only talk to a server do not load it. A worker loads no part of them that it has no use for.
  for (const file of globSync('cli/**/*.ts', { cwd: SOURCES })) {
    const loaded = loadedBy(file);
    if (loaded.has(join(SOURCES, SERVER)) || loaded.has(join(SOURCES, ENGINE))) continue;
    for (const module of loaded) if (parts.has(module)) parts.set(module, worker.has(module) ? 'base' : 'commands');
  }
  for (const module of loadedBy(PROGRAM)) parts.set(module, 'program');
  return parts;
}

/** Modules find files by their own address: in a built file they have that of the file that each would have alone. */
const inPlace: Plugin = {
  name: 'in-place',
  transform(code, id) {
    if (!code.includes('import.meta')) return null;
    // The bundler's own module, which makes the function `require`, has no place.
    const file = id.startsWith('\0') ? '.' : relative(SOURCES, id).replaceAll(sep, '/').replace(/\.ts$/, '.js');
    return code.replaceAll('import.meta.url', `new URL('${file}', ${FOLDER}).href`);
  },
  renderChunk(code, { fileName }) {
    if (code.includes('import.meta.')) throw new Error(`${fileName}: only import.meta.url has a place after the build`);
    const up = '../'.repeat(fileName.split('/').length - 1);
    return code.replaceAll(FOLDER, `new URL('./${up}', import.meta.url)`);
  },
};

/** True for the import of prom-client that is for exemplars, which are off. It would load forty modules at each start. */
function isExemplars(name: string, importer: string | undefined): boolean {
  return name === '@opentelemetry/api' && importer?.includes(join('node_modules', 'prom-client')) === true;
}

const NOTHING = '\0nothing';

const withoutExemplars: Plugin = {
  name: 'without-exemplars',
  resolveId: (name, importer) => (isExemplars(name, importer) ? NOTHING : null),
  load: (id) => (id === NOTHING ? 'export {};' : null),
};

if (import.meta.main) await build(join(ROOT, 'dist'), { keepsSites: process.argv.includes('--kept-sites') });
