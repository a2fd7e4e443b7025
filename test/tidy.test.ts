// Rules over the source itself: who may import whom, and what no file may hold.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '..');
const sources = filesUnder('src').filter((file) => file.endsWith('.ts'));

function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = join(folder, name);
    return statSync(join(root, path)).isDirectory() ? filesUnder(path) : [path];
  });
}

/** Files that `file` imports, relative to the root. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) =>
    relative(root, resolve(root, dirname(file), match[1]!)),
  );
}

const isTest = (file: string): boolean => /\.(test|conformance|bench)\.ts$/.test(file);

/** The engine's own top: it ties the folders together, so no folder may import it. */
const ENGINE_TOP = new Set(['src/engine/engine.ts', 'src/engine/reads.ts', 'src/engine/writes.ts']);

test('server calls shards, shards call the engine, nothing calls back', () => {
  for (const file of sources.filter((source) => !isTest(source))) {
    for (const imported of importsOf(file)) {
      if (file.startsWith('src/engine/')) assert.ok(imported.startsWith('src/engine/'), `${file} imports ${imported}`);
      if (file.startsWith('src/shards/'))
        assert.ok(!/^src\/(server|cli)\//.test(imported), `${file} imports ${imported}`);
      if (file.startsWith('src/server/')) assert.ok(!imported.startsWith('src/cli/'), `${file} imports ${imported}`);
    }
  }
});

/** What the embedders may use of the engine: the files that import nothing themselves, or only one another. */
const EMBED_IMPORTS = new Set(
  ['assert', 'errors', 'limits', 'clock', 'durable-file'].map((name) => `src/engine/${name}.ts`),
);

test('embedders know neither shards nor server, and the engine knows no embedder', () => {
  for (const file of sources.filter((source) => source.startsWith('src/embed/') && !isTest(source))) {
    for (const imported of importsOf(file))
      assert.ok(imported.startsWith('src/embed/') || EMBED_IMPORTS.has(imported), `${file} imports ${imported}`);
  }
});

/** Inside the engine: folder to the folders that it may import (besides itself and the plain files). */
const ENGINE_IMPORTS: Record<string, readonly string[]> = {
  grain: [],
  extract: [],
  crypto: [],
  log: ['crypto'],
  keys: ['crypto'],
  record: ['grain'],
  govern: ['crypto', 'keys', 'grain', 'record'],
  index: ['crypto', 'log'],
  store: ['grain', 'crypto', 'log', 'keys', 'record', 'index', 'govern'],
  write: ['grain', 'crypto', 'log', 'keys', 'record', 'index', 'govern', 'store'],
  recall: ['grain', 'crypto', 'log', 'keys', 'record', 'index', 'govern', 'store'],
  cal: ['grain', 'crypto', 'log', 'keys', 'record', 'index', 'govern', 'store', 'write', 'recall'],
  maintain: ['grain', 'crypto', 'log', 'keys', 'record', 'index', 'govern', 'store', 'write', 'recall'],
};

test('folders of the engine import only what lies below them', () => {
  for (const file of sources.filter((source) => source.startsWith('src/engine/') && !isTest(source))) {
    const folder = file.split('/')[2]!;
    const allowed = ENGINE_IMPORTS[folder];
    if (allowed === undefined) continue;
    for (const imported of importsOf(file)) {
      const target = imported.split('/')[2]!;
      if (!imported.split('/')[3]) {
        assert.ok(!ENGINE_TOP.has(imported), `${file} imports ${imported}`);
      } else assert.ok(target === folder || allowed.includes(target), `${file} imports ${imported}`);
    }
  }
});

test('only log/lmdb imports lmdb, and every engine folder has a rule', () => {
  for (const file of sources) {
    if (!file.startsWith('src/engine/log/lmdb/'))
      assert.ok(!/from 'lmdb'/.test(readFileSync(join(root, file), 'utf8')), `${file} imports lmdb`);
  }
  const folders = readdirSync(join(root, 'src/engine')).filter((name) =>
    statSync(join(root, 'src/engine', name)).isDirectory(),
  );
  assert.deepEqual(
    folders.filter((folder) => ENGINE_IMPORTS[folder] === undefined),
    [],
  );
});

test('process.env is read in the configuration and the entry points only', () => {
  // The loader sets a variable that uWebSockets.js reads; it reads none.
  const allowed = /^src\/(server\/config\.ts|server\/http\/uws-loader\.ts|cli\/[a-z-]+\.ts)$/;
  for (const file of sources.filter((source) => !isTest(source)))
    if (!allowed.test(file)) assert.ok(!readFileSync(join(root, file), 'utf8').includes('process.env'), file);
});

test('no file names a machine path or a registry host', () => {
  const files = ['package.json', 'package-lock.json', 'README.md', 'ARCHITECTURE.md', ...sources];
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    assert.ok(!/"resolved": *"https?:/.test(text), `${file} names a registry host`);
    assert.ok(!text.includes(root), `${file} names a path of this machine`);
  }
});

test('the lockfile holds every package that it speaks of, whatever the platform', () => {
  // npm leaves out what the registry at hand does not have for other platforms; `npm ci` then refuses the file.
  interface Locked {
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  }
  const lock: unknown = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { packages } = lock as { readonly packages: Readonly<Record<string, Locked>> }; // The shape of a lockfile.
  const names = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)));
  for (const [path, { optionalDependencies = {} }] of Object.entries(packages)) {
    for (const name of Object.keys(optionalDependencies)) assert.ok(names.has(name), `${path} wants ${name}`);
  }
});
