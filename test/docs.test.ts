// Rules for documents: links resolve, lists are complete, and pages stay short. tidy.test.ts checks that the files they
// name exist.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { documentsOf } from './support/documents.ts';

const root = resolve(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const documents = documentsOf(root);

/** The text without its code, where brackets are no links. */
const prose = (text: string): string => text.replace(/^```.*?^```$/gms, '').replace(/`[^`]*`/g, '');

/** The anchors of headings. */
function anchorsOf(text: string): string[] {
  return [...text.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every relative link leads to an existing file and heading', () => {
  let links = 0;
  for (const document of documents) {
    for (const [, target] of prose(read(document)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target!)) continue;
      const [path = '', anchor] = target!.split('#');
      const file = path === '' ? document : join(dirname(document), path);
      assert.ok(existsSync(join(root, file)), `${document} links to ${target}, which is missing`);
      if (anchor !== undefined)
        assert.ok(anchorsOf(read(file)).includes(anchor), `${document} links to ${target}: no such heading`);
      links++;
    }
  }
  assert.ok(links > 100, `${links} links`);
});

test('the README and the map stay short', () => {
  const lines = read('README.md').trimEnd().split('\n').length;
  assert.ok(lines <= 150, `README.md has ${lines} lines`);
  const { size } = statSync(join(root, 'ARCHITECTURE.md'));
  assert.ok(size <= 16_384, `ARCHITECTURE.md has ${size} bytes`);
});

test('every document can be reached from the README', () => {
  const reached = new Set(['README.md']);
  for (const document of reached) {
    for (const [, target] of prose(read(document)).matchAll(/\]\(([^)\s#]+)/g)) {
      const file = normalize(join(dirname(document), target!));
      if (documents.includes(file)) reached.add(file);
    }
  }
  assert.deepEqual(
    documents.filter((document) => !document.startsWith('test/') && !reached.has(document)),
    [],
  );
});

test('decisions are numbered without a gap, have their four parts, and are in the index', () => {
  const index = read('docs/decisions/README.md');
  const files = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
  assert.ok(files.length >= 100, `${files.length} decisions`);
  for (const [at, file] of files.sort().entries()) {
    const number = String(at + 1).padStart(3, '0');
    const text = read(`docs/decisions/${file}`);
    const [, title] = /^# \d{3}\. (.+)\n\nDate: \d{4}-\d\d-\d\d\n/.exec(text) ?? [];
    assert.ok(file.startsWith(`${number}-`) && text.startsWith(`# ${number}. `), `${file} should be number ${number}`);
    for (const part of ['Context', 'Choice', 'Cost']) assert.match(text, new RegExp(`^## ${part}\\n\\n\\S`, 'm'), file);
    assert.ok(index.includes(`| ${number} | [${title}](${file}) | `), `the index has no row for ${file}`);
  }
});

test('docs/dependencies.md has a reason for each package', () => {
  const table = read('docs/dependencies.md');
  const manifest: unknown = JSON.parse(read('package.json'));
  const lists = manifest as Readonly<Record<string, Readonly<Record<string, string>> | undefined>>; // its four lists
  const named = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'].flatMap((list) =>
    Object.keys(lists[list] ?? {}),
  );
  assert.ok(named.length > 30, `${named.length} packages`);
  for (const name of named) assert.ok(table.includes(`\`${name}\``), name);
  const rows = [...table.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell]) => cell!.split(', '));
  for (const cell of rows) assert.ok(named.includes(cell.replaceAll('`', '')), `${cell} is not a dependency`);
});

test('docs/command-line.md has every command', () => {
  const page = read('docs/command-line.md');
  const commands = [...read('src/cli/program.ts').matchAll(/^ {2}'?([\w-]+)'?: async \(\) =>/gm)].map(
    ([, name]) => name!,
  );
  assert.ok(commands.length >= 30, `${commands.length} commands`);
  for (const command of commands) assert.match(page, new RegExp(`^\\| .*\`${command}[\` ].*\\|`, 'm'), command);
});

test('bench/README.md describes every scenario', () => {
  const page = read('bench/README.md');
  const files = readdirSync(join(root, 'bench/scenarios')).filter((name) => name.endsWith('.ts'));
  const names = files.flatMap((file) => /^ {2}name: '([\w-]+)'/m.exec(read(`bench/scenarios/${file}`))?.[1] ?? []);
  assert.ok(names.length >= 30, `${names.length} scenarios`);
  for (const name of names) assert.match(page, new RegExp(`^(### ${name}|\\| \`${name}\` \\|.*)$`, 'm'), name);
});

test('the glossary gives each word one meaning, in order', () => {
  const [, ...tables] = read('docs/glossary.md').split(/^## /m);
  const words = tables.map((table) =>
    [...table.matchAll(/^\| (?!term|---)(.+?) \| .+\. ?\|$/gm)].map(([, word]) => word!),
  );
  assert.ok(words.flat().length > 100, `${words.flat().length} words`);
  assert.equal(new Set(words.flat()).size, words.flat().length);
  for (const list of words)
    assert.deepEqual(
      list,
      list.toSorted((a, b) => a.localeCompare(b, 'en')),
    );
});

test('no sentence of a document begins with Whoever, Of whom or Of which', () => {
  for (const document of documents) {
    const [found] = /(?:^|[.!?:;|(] )(?:Whoever|Of whom|Of which)\b.*/m.exec(prose(read(document))) ?? [];
    assert.equal(found, undefined, document);
  }
});

test('no document names a path of this machine', () => {
  for (const document of documents) assert.ok(!read(document).includes(root), relative(root, document));
});
