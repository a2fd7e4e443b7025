// `granary cal`: runs one CAL query, or opens a shell.

import type { Command } from 'commander';
import { ask, type CalOptions } from './cal-ask.ts';
import { printResult } from './cal-result.ts';
import { withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printNote } from './output.ts';

export function registerCal(program: Command): void {
  const command = program
    .command('cal')
    .description('Run a CAL query (context assembly language); without one, open a shell')
    .argument('[query...]', 'the query; - reads it from standard input');
  withServerOptions(withMemoryOption(command)).action(cal);
}

async function cal(words: string[], options: CalOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const query = words.join(' ');
  await withConnection(options, async (connection) => {
    if (query === '' || (query === '-' && process.stdin.isTTY)) {
      const { runShell } = await import('./cal-shell.ts');
      await runShell(connection, options, { input: process.stdin, output: process.stdout });
      return;
    }
    const answer = await ask(connection, options.memory, query === '-' ? await readAll() : query);
    if (options.json) printJson(answer.all);
    else {
      for (const warning of answer.warnings) printNote(warning);
      printResult(answer.result);
    }
  });
}

async function readAll(): Promise<string> {
  const { text } = await import('node:stream/consumers');
  return text(process.stdin);
}
