// Commands that documents name within a sentence, and the commands of blocks that are not run, are commands of the
// program: each word is a command, and each option is one of that command.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { buildProgram } from '../src/cli/program.ts';

const ROOT = join(import.meta.dirname, '..');
const FILES = [
  ...['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'console/README.md', 'docs/llms.txt'],
  ...globSync(['docs/**/*.md', 'deploy/**/*.md', 'examples/**/*.md'], { cwd: ROOT }).toSorted(),
];

/** Ways to start the program: from a package, a checkout or a container, or as another user. */
const RUNNERS = 'npx |npm (?:--prefix \\S+ )?run -s |docker (?:compose )?exec granary |sudo -u granary ';
const START = new RegExp(`(?:^|[;|&(])\\s*(?:${RUNNERS})?(?:env )?(?:[A-Z_]+=\\S+\\s+)*granary(?: --)?(?= )`);

/** A decision is a record of its day: later versions may lack a command that it names. */
const isManual = (file: string): boolean => !file.startsWith('docs/decisions/');

interface Named {
  readonly file: string;
  readonly command: string;
}

function commandsOf(file: string): Named[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const fence = /^( *)```(?:sh|console|bash)\b[^\n]*\n([\s\S]*?)^\1```$/gm;
  const lines = [...text.matchAll(fence)].flatMap(([, , block = '']) => block.replaceAll('\\\n', ' ').split('\n'));
  const inline = [...text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').matchAll(/(?<!`)`([^`]+)`(?!`)/g)];
  return [...lines, ...inline.map(([, code = '']) => code.replaceAll(/\s+/g, ' '))].flatMap((code) => {
    const begin = START.exec(code);
    return begin === null ? [] : [{ file, command: code.slice(begin.index + begin[0].length).trim() }];
  });
}

/** The words of one command: quotes are one word, and what follows a pipe, a comment or a redirection is not its own. */
function wordsOf(command: string): string[] {
  const words = command.match(/"[^"]*"|'[^']*'|[^\s"']+(?:"[^"]*"|'[^']*')?/g) ?? [];
  const end = words.findIndex((word) => /^(?:[|&;)]|[|&]{2}|(?:#|\d?>|<).*)$/.test(word));
  return (end === -1 ? words : words.slice(0, end)).map((word) => word.replace(/[;)]+$/, ''));
}

/** The fault of a command, or undefined. `[--all]` and `open|close` stand for each of what they name. */
function faultOf(program: Command, words: readonly string[]): string | undefined {
  let command = program;
  let given = 0;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!.replaceAll(/^\[+|\]+$/g, '');
    if (['', '…', '...', '--'].includes(word)) continue;
    if (word.startsWith('-')) {
      const name = word.replace(/=.*$/, '');
      command = optionOf(command, name) === undefined ? defaultOf(command) : command;
      const option = optionOf(command, name);
      if (option === undefined) return `${command.name()} has no option ${name}`;
      if (option.required && !word.includes('=') && at + 1 < words.length) at += 1;
      else if (
        option.optional &&
        words[at + 1]?.startsWith('-') === false &&
        given === command.registeredArguments.length
      )
        at += 1;
      continue;
    }
    if (given === 0 && command.commands.length > 0) {
      const next = word.split('|').map((name) => commandOf(command, name));
      if (next.every((one) => one !== undefined)) {
        // Options and words after several commands are those of the last one.
        command = next.at(-1)!;
        continue;
      }
      if (command.registeredArguments.length === 0 && !/^[A-Z]+$/.test(word))
        return `${command.name()} has no command ${word}`;
    }
    given += 1;
    const takes = command.registeredArguments;
    if (given > takes.length && takes.at(-1)?.variadic !== true && command !== program)
      return `${command.name()} takes no word ${word}`;
  }
  return undefined;
}

const commandOf = (command: Command, name: string): Command | undefined =>
  command.commands.find((one) => one.name() === name || one.aliases().includes(name));

/** The command that runs where none of the command's own is named. */
function defaultOf(command: Command): Command {
  const { _defaultCommandName: name } = command as unknown as { readonly _defaultCommandName?: string | null };
  return (name == null ? undefined : commandOf(command, name)) ?? command;
}

/** An option of the command or of one above it. */
function optionOf(
  command: Command,
  name: string,
): { readonly required: boolean; readonly optional: boolean } | undefined {
  if (['--help', '-h'].includes(name)) return { required: false, optional: false };
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const found = at.options.find(({ short, long }) => short === name || long === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

test('commands in documents are commands of the program, with its options', async () => {
  const program = await buildProgram(undefined);
  const named = FILES.filter(isManual).flatMap(commandsOf);
  assert.ok(named.length > 150, `${named.length} commands`);
  const faults = named.flatMap(({ file, command }) => {
    const fault = faultOf(program, wordsOf(command));
    return fault === undefined ? [] : [`${file}: granary ${command}: ${fault}`];
  });
  assert.deepEqual(faults, []);
});

test('a wrong command, option or word is found', async () => {
  const program = await buildProgram(undefined);
  const fault = (command: string): string | undefined => faultOf(program, wordsOf(command));
  assert.equal(fault('forget --user ada --yes --proof FILE'), undefined);
  assert.equal(fault('dsr open|report|close --user U'), undefined);
  assert.equal(fault('recall "where did we park" --limit 3 | head'), undefined);
  assert.equal(fault('recal x'), 'granary has no command recal');
  assert.equal(fault('dsr opn --user U'), 'dsr has no command opn');
  assert.equal(fault('forget --usr ada'), 'forget has no option --usr');
  assert.equal(fault('health now'), 'health takes no word now');
});
