// `granary goals`: the goals of a session as a tree, and their creation, moves and delegation.
import type { Command } from 'commander';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { text } from './grain-view.ts';
import { integer, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { clipped, number, printJson, printLine, printNote, terminalColumns } from './output.ts';

interface GoalsOptions extends ServerOptions {
  readonly memory: string;
  readonly blocked?: true | undefined;
  readonly limit?: number | undefined;
  readonly priority?: string | undefined;
  readonly criteria?: string | undefined;
  readonly parent?: readonly string[] | undefined;
  readonly user?: string | undefined;
  readonly reason?: string | undefined;
  readonly evidence?: readonly string[] | undefined;
}

const STATES = ['active', 'satisfied', 'failed', 'suspended'];

export function registerGoals(program: Command): void {
  const goals = program.command('goals').description('Print, create, move and delegate the goals of a session');
  const command = (name: string, description: string): Command =>
    withServerOptions(withMemoryOption(goals.command(name, { isDefault: name === 'list' }).description(description)));
  command('list', 'Print the goals of a session as a tree')
    .argument('<sid>', 'id of the session')
    .option('--blocked', 'only goals that are blocked, by priority')
    .option('-n, --limit <n>', 'number of goals at most', integer(1, 1000))
    .action((sid: string, options: GoalsOptions) =>
      options.blocked === true ? blocked(sid, options) : tree(sid, options),
    );
  command('create', 'Create a goal of a session')
    .argument('<sid>', 'id of the session')
    .argument('<description>', 'what the goal is')
    .option('--priority <word>', 'critical, high, medium or low')
    .option('--criteria <text>', 'when the goal counts as reached')
    .option('--parent <hashes...>', 'goals that this one is a part of')
    .option('--user <id>', 'the data subject')
    .action(create);
  command('move', 'Move a goal to another state')
    .argument('<hash>', 'hash of the goal in any version')
    .addArgument(goals.createArgument('<state>', 'the new state').choices(STATES))
    .option('--reason <text>', 'why the goal moves')
    .option('--evidence <hashes...>', 'hashes of grains that show that the goal is reached')
    .action(move);
  command('delegate', 'Delegate a goal to another agent')
    .argument('<hash>', 'hash of the goal in any version')
    .argument('<agent>', 'agent that takes the goal')
    .option('--reason <text>', 'why the goal is delegated')
    .action(delegate);
}

async function asked(
  options: GoalsOptions,
  verb: 'GET' | 'POST' | 'PUT',
  path: string,
  sent: { readonly json?: JsonObject; readonly query?: Readonly<Record<string, number | undefined>> },
): Promise<JsonObject> {
  const { withConnection } = await import('./connection.ts');
  const memory = `/memories/${encodeURIComponent(options.memory)}`;
  return withConnection(options, (connection) => connection.json(verb, `${memory}/${path}`, sent));
}

const inSession = (sid: string, rest: string): string => `sessions/${encodeURIComponent(sid)}/goals${rest}`;

async function tree(sid: string, options: GoalsOptions): Promise<void> {
  const answer = await asked(options, 'GET', inSession(sid, '/tree'), { query: { limit: options.limit } });
  if (options.json) return printJson(answer);
  const roots = answer['roots'] as unknown as readonly GoalNode[]; // the contract: nodes
  if (roots.length === 0) return printLine('The session has no goals.');
  for (const line of goalLines(roots)) printLine(clipped(line, terminalColumns()));
  if (answer['truncated'] === true)
    printNote(`${number(Number(answer['shown_goals']))} of ${number(Number(answer['total_goals']))} goals are shown`);
}

async function blocked(sid: string, options: GoalsOptions): Promise<void> {
  const answer = await asked(options, 'GET', inSession(sid, '/blocked'), { query: { limit: options.limit } });
  if (options.json) return printJson(answer);
  const goals = answer['goals'] as unknown as readonly JsonObject[]; // the contract: goal views
  if (goals.length === 0) return printLine('No goal is blocked.');
  for (const goal of goals) {
    const reason = goal['state_reason'] === null ? '' : `: ${text(goal['state_reason'])}`;
    printLine(clipped(`${goalLine(goal)}${reason}`, terminalColumns()));
  }
  if (answer['next_cursor'] !== null)
    printNote(`${number(goals.length)} of ${number(Number(answer['total']))} goals are shown`);
}

async function create(sid: string, description: string, options: GoalsOptions): Promise<void> {
  const { priority, criteria, parent, user } = options;
  const json = { description, priority, criteria, parent_goals: parent, user_id: user } as unknown as JsonObject; // JSON drops undefined
  const goal = await asked(options, 'POST', inSession(sid, '/create'), { json });
  if (options.json) return printJson(goal);
  printLine(goalLine(goal));
  printLine(text(goal['hash']));
}

async function move(hash: string, state: string, options: GoalsOptions): Promise<void> {
  const { reason, evidence } = options;
  const json = { state, reason, evidence } as unknown as JsonObject; // JSON drops undefined
  printChange(await asked(options, 'PUT', `goals/${encodeURIComponent(hash)}/state`, { json }), options);
}

async function delegate(hash: string, agent: string, options: GoalsOptions): Promise<void> {
  const json = { target_agent: agent, reason: options.reason } as unknown as JsonObject; // JSON drops undefined
  printChange(await asked(options, 'POST', `goals/${encodeURIComponent(hash)}/delegate`, { json }), options);
}

function printChange(goal: JsonObject, options: GoalsOptions): void {
  if (options.json) {
    printJson(goal);
    return;
  }
  printLine(goalLine(goal));
  printLine(goal['changed'] === true ? text(goal['hash']) : `${text(goal['hash'])} (unchanged)`);
}

export interface GoalNode {
  readonly goal: JsonObject;
  readonly children: readonly GoalNode[];
  readonly children_total: number;
}

/** A line for each goal, indented below its parent. */
export function goalLines(roots: readonly GoalNode[]): readonly string[] {
  const lines: string[] = [];
  const branch = (nodes: readonly GoalNode[], indent: string, isRoot: boolean): void => {
    nodes.forEach(({ goal, children, children_total: total }, at) => {
      const isLast = at === nodes.length - 1;
      const below = isRoot ? '' : `${indent}${isLast ? '   ' : '│  '}`;
      lines.push(`${isRoot ? '' : `${indent}${isLast ? '└─ ' : '├─ '}`}${goalLine(goal)}`);
      branch(children, below, false);
      if (children.length < total) lines.push(`${below}… ${number(total - children.length)} more`);
    });
  };
  branch(roots, '', true);
  return lines;
}

function goalLine(goal: JsonObject): string {
  const agent = goal['delegate_to'] === null ? '' : ` → ${text(goal['delegate_to'])}`;
  return `${text(goal['goal_state'])}  [${text(goal['priority'])}] ${text(goal['description'])}${agent}`;
}
