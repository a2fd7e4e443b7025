// Rules for the source itself: permitted imports, and content that no file may have.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { documentsOf } from './support/documents.ts';

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

/**
 * The engine's top-level files: they tie the folders together, so no folder may import them. Every other file is in a
 * folder.
 */
const ENGINE_TOP = new Set(['engine', 'open', 'read-audit', 'reads', 'writes'].map((name) => `src/engine/${name}.ts`));

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

/** Engine files that the embedders may import: files that import nothing themselves, or only one another. */
const EMBED_IMPORTS = new Set(
  ['assert', 'clock', 'defined', 'durable-file', 'errors', 'limits'].map((name) => `src/engine/base/${name}.ts`),
);

test('embedders know neither shards nor server, and the engine knows no embedder', () => {
  for (const file of sources.filter((source) => source.startsWith('src/embed/') && !isTest(source))) {
    for (const imported of importsOf(file))
      assert.ok(imported.startsWith('src/embed/') || EMBED_IMPORTS.has(imported), `${file} imports ${imported}`);
  }
});

/** Files outside of its folder that the Model Context Protocol may import: pure ones, and those loaded on demand. */
const MCP_IMPORTS = new Set([
  'src/engine/base/defined.ts',
  'src/engine/base/errors.ts',
  'src/engine/base/header-text.ts',
  'src/engine/base/nfc.ts',
  'src/engine/base/on-demand.ts',
  'src/engine/base/without-at-end.ts',
  'src/engine/cal/query.ts',
  'src/engine/cal/run/kinds.ts',
  'src/engine/grain/api/json.ts',
  'src/engine/grain/api/json-value.ts',
  'src/server/operations/validate.ts',
  'src/server/version.ts',
]);

test('the Model Context Protocol knows the operations by the API alone', () => {
  const files = sources.filter((source) => source.startsWith('src/mcp/') && !isTest(source));
  assert.ok(files.length > 8, `${files.length} files`);
  for (const file of files)
    for (const imported of importsOf(file))
      assert.ok(imported.startsWith('src/mcp/') || MCP_IMPORTS.has(imported), `${file} imports ${imported}`);
});

test('the client imports only itself, and no package', () => {
  const files = sources.filter((source) => source.startsWith('src/client/'));
  assert.ok(files.length > 10, `${files.length} files`);
  for (const file of files) {
    for (const imported of importsOf(file))
      assert.ok(imported.startsWith('src/client/'), `${file} imports ${imported}`);
    assert.doesNotMatch(
      readFileSync(join(root, file), 'utf8'),
      /^(?:import '[^.]|(?:import|export|\}).* from '[^.'])/m,
      file,
    );
  }
});

test('the console imports only itself, and asks the server through the client alone', () => {
  const files = filesUnder('console/src').filter((file) => /\.tsx?$/.test(file));
  assert.ok(files.length > 20, `${files.length} files`);
  for (const file of files) {
    for (const imported of importsOf(file))
      assert.ok(imported.startsWith('console/src/'), `${file} imports ${imported}`);
    // The session watches the client's own requests.
    if (file !== 'console/src/session.ts')
      assert.doesNotMatch(
        readFileSync(join(root, file), 'utf8'),
        /\bfetch\(|XMLHttpRequest|WebSocket|EventSource/,
        file,
      );
  }
});

/** The folders of the engine, from the lowest up, each with those below it that it may import. */
const ENGINE_IMPORTS: Record<string, readonly string[]> = {
  base: [],
  grain: ['base'],
  text: ['base', 'grain'],
  crypto: ['base'],
  log: ['base', 'crypto'],
  keys: ['base', 'crypto'],
  record: ['base', 'grain'],
  index: ['base', 'crypto', 'log'],
  govern: ['base', 'crypto', 'keys', 'grain', 'text', 'record'],
  turn: [],
  calls: ['base', 'grain', 'index', 'govern', 'turn'],
  asking: ['base', 'grain', 'calls'],
  store: ['base', 'grain', 'crypto', 'log', 'keys', 'record', 'index', 'govern', 'turn', 'calls'],
  write: ['base', 'grain', 'crypto', 'log', 'keys', 'record', 'index', 'govern', 'turn', 'calls', 'store'],
  recall: ['base', 'grain', 'crypto', 'log', 'keys', 'record', 'index', 'govern', 'calls', 'asking', 'store'],
  session: ['base', 'grain', 'index', 'govern', 'turn', 'calls', 'store', 'recall'],
  cal: [
    'base',
    'grain',
    'crypto',
    'log',
    'keys',
    'record',
    'index',
    'govern',
    'calls',
    'asking',
    'store',
    'write',
    'recall',
  ],
  maintain: [
    'base',
    'grain',
    'text',
    'crypto',
    'log',
    'keys',
    'record',
    'index',
    'govern',
    'calls',
    'store',
    'write',
    'recall',
  ],
};

test('folders of the engine import only folders below them', () => {
  const order = Object.keys(ENGINE_IMPORTS);
  for (const [folder, allowed] of Object.entries(ENGINE_IMPORTS))
    for (const below of allowed) assert.ok(order.indexOf(below) < order.indexOf(folder), `${folder} is below ${below}`);
  for (const file of sources.filter((source) => source.startsWith('src/engine/') && !isTest(source))) {
    const [, , folder = '', inFolder] = file.split('/');
    if (inFolder === undefined) {
      assert.ok(ENGINE_TOP.has(file), `${file} is in no folder`);
      continue;
    }
    const allowed = ENGINE_IMPORTS[folder];
    assert.ok(allowed !== undefined, `${folder} has no rule`);
    for (const imported of importsOf(file)) {
      assert.ok(!ENGINE_TOP.has(imported), `${file} imports ${imported}`);
      const target = imported.split('/')[2]!;
      assert.ok(target === folder || allowed.includes(target), `${file} imports ${imported}`);
    }
  }
});

test('errors import nothing, and calls are data: they import types, and rows of one another', () => {
  assert.deepEqual(importsOf('src/engine/base/errors.ts'), []);
  const calls = sources.filter((file) => file.startsWith('src/engine/calls/') && !isTest(file));
  assert.ok(calls.length > 15, `${calls.length} files`);
  const values = /^import (?!type\b)[^;]*?'((?:\.\.\/|[^.'])[^']*)';/gm;
  const found = calls.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(values)].map(([, imported]) => `${file} imports ${imported}`),
  );
  assert.deepEqual(found, []);
});

test('only log/lmdb imports lmdb, and every rule has a folder', () => {
  for (const file of sources) {
    if (!file.startsWith('src/engine/log/lmdb/'))
      assert.ok(!/from 'lmdb'/.test(readFileSync(join(root, file), 'utf8')), `${file} imports lmdb`);
  }
  const folders = readdirSync(join(root, 'src/engine')).filter((name) =>
    statSync(join(root, 'src/engine', name)).isDirectory(),
  );
  assert.deepEqual(folders.sort(), Object.keys(ENGINE_IMPORTS).sort());
});

test('one file makes the requests to URLs that somebody gave, so that each address is checked', () => {
  const makers = sources.filter((file) => /['"]undici['"]/.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(makers, ['src/server/outgoing/guarded-agent.ts']);
});

test('no folder is made by the recursive mkdir of Node, which never returns in a mounted folder that was removed', () => {
  const code = sources.filter(
    (file) => !isTest(file) && !file.includes('/testing/') && !file.startsWith('src/cli/mcp/'),
  );
  const makers = code.filter((file) =>
    /mkdir(?:Sync)?\([^;]*recursive: true/.test(readFileSync(join(root, file), 'utf8')),
  );
  assert.deepEqual(makers, [], 'use makeMissingFolder of src/engine/base/durable-file.ts');
});

test('no import statement loads node:http, which would load a client that nothing uses', () => {
  const loads = /^(?:import (?!type\b)[^;]*?|\} )from 'node:https?';/m;
  const code = sources.filter((file) => !isTest(file) && !file.includes('/testing/'));
  const importers = code.filter((file) => loads.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(importers, [], 'use src/engine/base/node-http.ts');
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

test('the lockfile has every package that it refers to, on every platform', () => {
  // npm leaves out packages for other platforms that the registry at hand lacks; `npm ci` then refuses the file.
  interface Locked {
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  }
  const lock: unknown = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { packages } = lock as { readonly packages: Readonly<Record<string, Locked>> }; // the shape of a lockfile
  const names = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)));
  for (const [path, { optionalDependencies = {} }] of Object.entries(packages)) {
    for (const name of Object.keys(optionalDependencies)) assert.ok(names.has(name), `${path} needs ${name}`);
  }
});

test('optional members are written as undefined or by `defined`, not by a conditional spread', () => {
  // `...(x === undefined ? {} : { x })` and `...(x && { x })`, and the first by itself
  const conditional =
    /\.\.\.\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*?(?:\? \{\}\s*:\s*\{|&& \{|\}\s*: \{\}\))|\b(\w+) === undefined \? \{\} : \{ \1 \}/g;
  const isTestOnly = (file: string): boolean => /\/(?:testing|gen)\/|\.fixture\.ts$/.test(file);
  const found = [...sources, ...filesUnder('bench').filter((file) => file.endsWith('.ts'))]
    .filter((file) => !isTest(file) && !isTestOnly(file))
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(conditional)].map(([text]) => `${file}: ${text}`),
    );
  assert.deepEqual(found, []);
});

/** The sentences of a document, or of a source's comments. */
function sentencesOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const paragraphs = file.endsWith('.md')
    ? text.replaceAll(/^```[\s\S]*?^```/gm, '').split(/\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) )/)
    : [...text.matchAll(/(?:^\s*(?:\/\/|\/?\*).*\n?)+|\/\/ .*/gm)].map(([comment]) => comment);
  return paragraphs.flatMap((paragraph) =>
    paragraph
      .replaceAll(/^\s*(?:\/\/|\/?\*+\/?|#+(?: \d+\.)?|[-*|]|\d+\.)/gm, '')
      .trim()
      .replaceAll(/\s+/g, ' ')
      .split(/(?<=[.:?!]) (?=[A-Z])/),
  );
}

test('sentences begin with their subject, not with a clause that stands for it', () => {
  const clause = /^(?:Whoever|Whatever|Whose|Of whom|What) .*[^?]$/;
  const files = [
    ...documentsOf(root),
    ...['src', 'console/src', 'test', 'bench', 'scripts', 'examples']
      .flatMap(filesUnder)
      .filter((file) => /\.tsx?$/.test(file)),
  ].filter((file) => !file.includes('/gen/'));
  let sentences = 0;
  const found: string[] = [];
  for (const file of files)
    for (const sentence of sentencesOf(file)) {
      sentences++;
      // A heading may be such a clause: it has no full stop.
      if (clause.test(sentence) && !(file.endsWith('.md') && !/[.:]/.test(sentence)))
        found.push(`${file}: ${sentence}`);
    }
  assert.deepEqual(found, []);
  assert.ok(sentences > 10_000, `${sentences} sentences`);
});

/** Names in comments that are those of libraries. */
const FOREIGN_NAMES = new Set(['closeConnection', 'txnStartThreshold']);

test('a name that a comment quotes exists, so that a rename leaves no comment behind', () => {
  const comment = /\/\*\*?\s[\s\S]*?\*\/|(?<=^|\s)\/\/ .*/gm;
  const names = new Set<string>();
  const quoted: (readonly [file: string, name: string])[] = [];
  for (const file of sources) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [word] of text.replaceAll(comment, ' ').matchAll(/[A-Za-z_]\w*/g)) names.add(word);
    for (const [block] of text.matchAll(comment))
      for (const [, name] of block.matchAll(/`#?([A-Za-z]\w*(?:\.\w+)*)(?:\(\))?`/g)) quoted.push([file, name!]);
  }
  // Names of our own have a hump: one lower-case word may be a value, a file or a field of the contract.
  const ours = quoted.filter(([, name]) => /[a-z][A-Z]/.test(name));
  assert.ok(ours.length > 300, `${ours.length} names`);
  const missing = ours.filter(([, name]) =>
    name.split('.').some((part) => !names.has(part) && !FOREIGN_NAMES.has(part)),
  );
  assert.deepEqual(missing, []);
});

/** A word in a document's code quotes that is a path from the root, or a source file by any path. */
const NAMED_PATH = /^(?:src|test|bench|docs|scripts|proto|examples)\/[\w./-]*$/;

test('every source path that a document names exists', () => {
  let paths = 0;
  for (const document of documentsOf(root)) {
    const text = readFileSync(join(root, document), 'utf8');
    for (const [, word] of text.matchAll(/`([^`\n]+)`/g)) {
      if (!NAMED_PATH.test(word!) && !/^[\w./-]+\.ts$/.test(word!)) continue;
      // A file beside the document may be named by itself; everything else by its path from the root.
      const found = existsSync(join(root, word!)) || existsSync(join(root, dirname(document), word!));
      assert.ok(found, `${document} names ${word}, which is missing`);
      paths++;
    }
  }
  assert.ok(paths > 100, `${paths} paths`);
});
