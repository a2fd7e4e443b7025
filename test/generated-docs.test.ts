// Generated parts of documents equal the output of their generator.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withExitCodes, withTable, withTools } from '../scripts/generate-docs.ts';
import { referencePages } from '../scripts/reference.ts';
import { OPERATIONS } from '../src/server/operations/table.ts';

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'recall.md'), 'utf8');

test('docs/recall.md has the table that the schema makes (`npm run docs` writes it)', () => {
  assert.equal(page, withTable(page));
});

test('a row that was edited by hand, or removed, is generated again', () => {
  const [row = ''] = /^\| 12 \|.*\n/m.exec(page) ?? [];
  assert.match(row, /`limit`.* \| `20` \|/);
  assert.equal(withTable(page.replace(row, '')), page);
  assert.equal(withTable(page.replace(row, row.replace('20', '30'))), page);
});

test('a page without the markers is refused, not rewritten', () => {
  assert.throws(() => withTable('# Recall\n'), /no marks/);
});

test('docs/mcp.md has the tools as they are (`npm run docs` writes them)', () => {
  const tools = readFileSync(join(import.meta.dirname, '..', 'docs', 'mcp.md'), 'utf8');
  assert.equal(tools, withTools(tools));
  assert.match(tools, /^\| `recall` \| default \| `query`, `limit`\?/m);
  assert.equal(withTools(tools.replace(/^\| `forget` .*\n/m, '')), tools);
  assert.throws(() => withTools('# MCP\n'), /no marks/);
});

test('docs/command-line.md has the exit codes as they are (`npm run docs` writes them)', () => {
  const commands = readFileSync(join(import.meta.dirname, '..', 'docs', 'command-line.md'), 'utf8');
  assert.equal(commands, withExitCodes(commands));
  assert.match(commands, /^\| `proof verify` \| 3 \| changed after it was signed \|$/m);
  assert.equal(withExitCodes(commands.replace(/^\| `upgrade --check` \| 3 .*\n/m, '')), commands);
  assert.throws(() => withExitCodes('# The command line\n'), /no marks/);
});

test('docs/reference has the pages that the code makes, and no other (`npm run docs` writes them)', () => {
  const docs = join(import.meta.dirname, '..', 'docs');
  const pages = referencePages();
  for (const [path, made] of pages) assert.equal(readFileSync(join(docs, path), 'utf8'), made, path);
  const there = readdirSync(join(docs, 'reference')).map((name) => `reference/${name}`);
  assert.deepEqual(there.toSorted(), [...pages.keys()].filter((path) => path.startsWith('reference/')).toSorted());
});

test('each operation has its part of the reference', () => {
  const headings = [...referencePages().values()].flatMap((page) =>
    [...page.matchAll(/^## (\w+)$/gm)].map(([, name]) => name),
  );
  for (const { name } of OPERATIONS) assert.equal(headings.filter((heading) => heading === name).length, 1, name);
});
