// `granary session SID`: the bootstrap of a session as a page, or the context that a prompt would get.
import type { Command } from 'commander';
import { TOKEN_BUDGET_MAX } from '../engine/base/limits.ts';
import { type JsonObject, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import { text } from './grain-view.ts';
import { integer, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import {
  clipped,
  number,
  printable,
  printJson,
  printLine,
  printNote,
  printPairs,
  terminalColumns,
  utc,
} from './output.ts';

interface SessionOptions extends ServerOptions {
  readonly memory: string;
  readonly actionsLimit?: number | undefined;
  readonly context?: true | undefined;
  readonly budget?: number | undefined;
  readonly query?: string | undefined;
}

export function registerSession(program: Command): void {
  const command = program
    .command('session')
    .description('Print what an agent needs to continue a session: state, active goals, last actions')
    .argument('<sid>', 'id of the session')
    .option('-n, --actions-limit <n>', 'number of actions at most', integer(0, 500))
    .option('--context', 'print the context that a prompt would get')
    .option('--budget <tokens>', 'tokens that the context may have, from 1 to 200,000', integer(1, TOKEN_BUDGET_MAX))
    .option('--query <text>', 'question that the context is for: what matches it is worth more. No default');
  withServerOptions(withMemoryOption(command)).action(session);
}

async function session(sid: string, options: SessionOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const path = `/memories/${encodeURIComponent(options.memory)}/sessions/${encodeURIComponent(sid)}`;
  const isContext = options.context === true || options.budget !== undefined || options.query !== undefined;
  const query = isContext
    ? { token_budget: options.budget, query: options.query, format: options.json ? undefined : 'text' }
    : { actions_limit: options.actionsLimit };
  const answer = await withConnection(options, (connection) =>
    connection.json('GET', `${path}/${isContext ? 'context' : 'bootstrap'}`, { query }),
  );
  if (options.json) return printJson(answer);
  if (isContext) printContext(answer);
  else printBootstrap(answer);
}

function printContext(answer: JsonObject): void {
  printLine(printable(text(answer['text'])));
  const { states, state_keys, goals, actions, beliefs } = answer['dropped'] as Record<string, number>; // the contract
  const left = Object.entries({ states, 'keys of the state': state_keys, goals, actions, beliefs });
  const dropped = left.flatMap(([what, count = 0]) => (count > 0 ? [`${number(count)} ${what}`] : []));
  const spent = `${number(Number(answer['estimated_tokens']))} of ${number(Number(answer['token_budget']))} tokens`;
  printNote(dropped.length === 0 ? `${spent}; nothing is left out` : `${spent}; left out: ${dropped.join(', ')}`);
}

function printBootstrap(answer: JsonObject): void {
  const state = answer['state'] as JsonObject | null;
  const goals = objectsOf(answer['active_goals']);
  const actions = objectsOf(answer['recent_actions']);
  const width = terminalColumns();
  if (state === null && goals.length + actions.length === 0) {
    printLine('The session has no grains.');
    return;
  }
  if (state === null) printLine('No state.');
  else {
    printLine(`State of ${utc(Number(state['created_at']))} UTC`);
    const data = (objectOf(state['fields'])['data'] ?? {}) as JsonObject;
    printPairs(Object.entries(data).map(([key, value]) => [`  ${clipped(key, 30)}`, clipped(text(value), width - 36)]));
  }
  printSection('Active goals', goals.length, Number(answer['active_goals_total']));
  for (const goal of goals)
    printLine(`  ${clipped(`[${text(goal['priority'])}] ${text(goal['description'])}`, width - 2)}`);
  printSection('Last actions', actions.length, Number(answer['recent_actions_total']));
  for (const { created_at: at, fields } of actions)
    printLine(`  ${utc(Number(at))}  ${clipped(actionLine(objectOf(fields)), width - 24)}`);
}

function printSection(title: string, shown: number, total: number): void {
  printLine();
  printLine(shown === total ? `${title}: ${number(total)}` : `${title}: ${number(shown)} of ${number(total)}`);
}

/** The tool, and what came of the call. */
export function actionLine(fields: JsonObject): string {
  const tool = text(fields['tool_name']);
  if (fields['is_error'] === true) {
    const reasons = [fields['error'], fields['failure_detail'], fields['content']].map(text);
    return `${tool} failed: ${reasons.find((reason) => reason !== '') ?? 'unknown'}`;
  }
  const content = text(fields['content']);
  if (content !== '') return `${tool}: ${content}`;
  return fields['status'] === 'pending' ? `${tool} has not finished` : tool;
}
