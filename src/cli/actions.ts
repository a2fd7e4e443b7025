// `granary actions SID`: what the tools of a session did: counts by tool and error, failed actions, or one chain.
import type { Command } from 'commander';
import { type JsonObject, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import { usage } from './failure.ts';
import { text } from './grain-view.ts';
import { integer, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import {
  clipped,
  counted,
  duration,
  number,
  printJson,
  printLine,
  printNote,
  printTable,
  terminalColumns,
  utc,
} from './output.ts';
import { actionLine } from './session.ts';

interface ActionsOptions extends ServerOptions {
  readonly memory: string;
  readonly failed?: true | undefined;
  readonly chain?: string | undefined;
  readonly limit?: number | undefined;
}

export function registerActions(program: Command): void {
  const command = program
    .command('actions')
    .description('Print what the tools of a session did: calls, failures and durations of each')
    .argument('<sid>', 'id of the session')
    .option('--failed', 'list the failed actions, newest first')
    .option('--chain <task>', 'list the actions of a task, oldest first; a hash or a tool_call_id names an action')
    .option('-n, --limit <n>', 'number of failed actions at most', integer(1, 500));
  withServerOptions(withMemoryOption(command)).action(actions);
}

async function actions(sid: string, options: ActionsOptions): Promise<void> {
  const { failed, chain, limit } = options;
  if (failed === true && chain !== undefined) throw usage('give --failed or --chain, not both');
  const { withConnection } = await import('./connection.ts');
  const path = `/memories/${encodeURIComponent(options.memory)}/sessions/${encodeURIComponent(sid)}/actions`;
  const part = failed === true ? 'failed' : chain === undefined ? 'summary' : `chain/${encodeURIComponent(chain)}`;
  const answer = await withConnection(options, (connection) =>
    connection.json('GET', `${path}/${part}`, { query: failed === true ? { limit } : {} }),
  );
  if (options.json) return printJson(answer);
  if (failed === true) printFailed(answer);
  else if (chain === undefined) printSummary(answer);
  else printChain(answer);
}

function printSummary(answer: JsonObject): void {
  const tools = Object.entries(answer['by_tool'] as Record<string, JsonObject>); // the contract: counts by name
  if (tools.length === 0) {
    printLine('The session has no actions.');
    return;
  }
  const right = { align: 'right' } as const;
  const row = (name: string, calls: unknown, successes: unknown, failures: unknown, ms: unknown) => [
    clipped(name, 40),
    ...[calls, successes, failures].map((count) => number(Number(count))),
    duration(Number(ms)),
  ];
  printTable(
    [{ title: 'tool' }, ...['calls', 'succeeded', 'failed', 'duration'].map((title) => ({ title, ...right }))],
    [
      ...tools.map(([name, tool]) =>
        row(name, tool['calls'], tool['successes'], tool['failures'], tool['total_duration_ms']),
      ),
      row('all', answer['total_calls'], answer['successful'], answer['failed'], answer['total_duration_ms']),
    ],
  );
  const errors = objectsOf(answer['error_patterns']);
  if (errors.length > 0) {
    printLine();
    printTable(
      [{ title: 'failed', ...right }, { title: 'error' }],
      errors.map(({ error, count }) => [number(Number(count)), clipped(text(error), terminalColumns() - 14)]),
    );
  }
  if (answer['truncated'] === true) printNote('There are more tools or errors than these.');
}

function printFailed(answer: JsonObject): void {
  const failures = objectsOf(answer['actions']);
  if (failures.length === 0) {
    printLine('No action has failed.');
    return;
  }
  printActions(failures);
  const total = Number(answer['total']);
  if (total > failures.length) printNote(`${number(failures.length)} of ${counted(total, 'failed action')}`);
}

function printChain(answer: JsonObject): void {
  const chain = objectsOf(answer['actions']);
  if (chain.length === 0) {
    printLine('The task has no actions.');
    return;
  }
  printActions(chain);
  const spent = duration(Number(answer['total_duration_ms']));
  printNote(`${counted(chain.length, 'action')}, ${number(Number(answer['failed']))} failed, ${spent}`);
  if (answer['truncated'] === true) printNote('The chain has more actions than these.');
}

function printActions(all: readonly JsonObject[]): void {
  printTable(
    [{ title: 'made (UTC)' }, { title: 'hash' }, { title: 'took', align: 'right' }, { title: 'action' }],
    all.map(({ created_at: at, hash, fields }) => {
      const { duration_ms: ms } = objectOf(fields);
      return [
        utc(Number(at)),
        text(hash).slice(0, 16),
        typeof ms === 'number' ? duration(ms) : '',
        clipped(actionLine(objectOf(fields)), terminalColumns() - 56),
      ];
    }),
  );
}
