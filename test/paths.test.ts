// docs/paths names the code of an act, step by step, and CONTRIBUTING.md the code that a change touches. Every file
// named there exists, and contains every function or class named with it.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'docs/paths');
const FILE = /^(?:src|test|examples|proto)\/\S+$/;
const NAME = /^(?:[A-Za-z_]\w*\.)?#?[A-Za-z_]\w*$/;

interface Step {
  readonly file: string;
  /** `fn`, `Class` or `Class.method`. */
  readonly names: readonly string[];
}

/**
 * The names in a line: each file with the names that follow it directly, separated by commas. A word in code quotes
 * elsewhere in the text is not a name.
 */
function stepsOf(line: string): Step[] {
  const pieces = line.split('`');
  const steps: { file: string; names: string[] }[] = [];
  // Every other piece was in code quotes; the one before it is the text between the two.
  for (let at = 1; at < pieces.length; at += 2) {
    const word = pieces[at]!;
    if (FILE.test(word)) steps.push({ file: word, names: [] });
    else if (/^,? $/.test(pieces[at - 1]!) && NAME.test(word)) steps.at(-1)?.names.push(word);
  }
  return steps;
}

/** True when the source declares the name at its top level, or the class and the method. */
function declares(source: string, name: string): boolean {
  const [owner, method] = name.includes('.') ? name.split('.') : [name, undefined];
  const declared = new RegExp(
    `^(?:export )?(?:abstract |async )*(?:class|const|function\\*?|interface|type) ${owner}\\b`,
    'm',
  );
  if (!declared.test(source)) return false;
  if (method === undefined) return true;
  const body = source.slice(source.search(declared));
  const end = body.search(/^}/m);
  const member = new RegExp(
    `^  (?:(?:private|protected|override|static|async|abstract|get) )*\\*?${method}\\b[<(]`,
    'm',
  );
  return member.test(body.slice(0, end === -1 ? undefined : end));
}

const files = readdirSync(FOLDER);

test('there is a path for each of the four acts', () => {
  assert.deepEqual(files.toSorted(), ['add.md', 'cal.md', 'erase.md', 'recall.md']);
});

for (const file of files) {
  test(`${file} names existing files, and declarations that are in them`, () => {
    const wrong: string[] = [];
    let names = 0;
    for (const [at, line] of readFileSync(join(FOLDER, file), 'utf8').split('\n').entries()) {
      const steps = stepsOf(line);
      if (/^\d+\. /.test(line) && steps.length === 0) wrong.push(`${file}:${at + 1} names no file`);
      for (const step of steps) {
        const path = join(ROOT, step.file);
        if (!existsSync(path)) {
          wrong.push(`${file}:${at + 1}: ${step.file} does not exist`);
          continue;
        }
        if (step.names.length === 0) continue;
        const source = readFileSync(path, 'utf8');
        for (const name of step.names)
          if (!declares(source, name)) wrong.push(`${file}:${at + 1}: ${step.file} has no ${name}`);
        names += step.names.length;
      }
    }
    assert.deepEqual(wrong, []);
    assert.ok(names > 10, `${file} names ${names} functions`);
  });
}

test('CONTRIBUTING.md names existing files, and declarations that are in them', () => {
  const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').replaceAll(/\s+/g, ' ');
  // Placeholders are in capitals.
  const files = [...text.matchAll(/`((?:src|test|scripts|docs|proto|bench)\/[^`*]+\.\w+)`/g)].map((match) => match[1]!);
  const named = files.filter((file) => !/[A-Z]{4}/.test(file));
  assert.ok(named.length > 20, String(named.length));
  for (const file of named) assert.ok(existsSync(join(ROOT, file)), `${file} does not exist`);
  const pairs = [...text.matchAll(/`#?(\w+)` in `((?:src|test|proto|bench)\/[^`*]+\.\w+)`/g)];
  assert.ok(pairs.length > 10, String(pairs.length));
  for (const [, name = '', file = ''] of pairs)
    assert.ok(readFileSync(join(ROOT, file), 'utf8').includes(name), `${file} has no ${name}`);
});

test('a name counts only where it is declared, in its class', () => {
  const source =
    'export class Queue {\n  async push<T>(): void {}\n}\n\nfunction* steps() {}\nclass Other {\n  #go() {}\n}\n';
  for (const name of ['Queue', 'Queue.push', 'steps', 'Other.#go']) assert.ok(declares(source, name), name);
  for (const name of ['push', 'Queue.#go', 'Queue.steps', 'Queu', 'Other.push'])
    assert.ok(!declares(source, name), name);
});
