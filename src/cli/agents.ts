// `granary agents`: list the agents of a memory with their trust, register one, show one, deactivate one.
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { type JsonObject, type JsonValue, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import { gather, integer, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { clipped, counted, printJson, printLine, printTable, utc } from './output.ts';
import { allPages } from './pages.ts';

interface AgentOptions extends ServerOptions {
  readonly memory: string;
}

interface RegisterOptions extends AgentOptions {
  readonly name?: string | undefined;
  readonly did?: string | undefined;
  readonly publicKey?: string | undefined;
  readonly capability?: readonly string[] | undefined;
}

interface ShowOptions extends AgentOptions {
  readonly limit: number;
}

interface DeactivateOptions extends AgentOptions {
  readonly reason?: string | undefined;
}

const HISTORY_DEFAULT = 10;
const HISTORY_MAX = 1_000;

export function registerAgents(program: Command): void {
  const agents = program.command('agents').description('List, register, show and deactivate agents');
  const add = (command: Command): Command => withServerOptions(withMemoryOption(command));
  add(agents.command('list', { isDefault: true }).description('List agents with their trust')).action(list);
  add(
    agents
      .command('register')
      .description('Register an agent; a key acts as it with the principal agent:ID')
      .argument('[agent-id]', 'id of the agent; by default the server makes one')
      .option('--name <text>', 'name for people to read')
      .option('--did <did>', 'decentralized identifier, as grains name it in author_did')
      .option('--public-key <text>', 'public key of the agent')
      .option('--capability <text>', 'what the agent can do; repeat the option for more', gather),
  ).action(register);
  add(
    agents
      .command('show')
      .description('Show an agent with its identity and the history of its trust')
      .argument('<agent-id>')
      .option('-n, --limit <n>', 'number of points of the history', integer(1, HISTORY_MAX), HISTORY_DEFAULT),
  ).action(show);
  add(
    agents
      .command('deactivate')
      .description('Deactivate an agent permanently: its writes are refused from then on')
      .argument('<agent-id>')
      .option('--reason <text>', 'why the agent is deactivated'),
  ).action(deactivate);
}

function pathOf({ memory }: AgentOptions, rest = ''): string {
  return `/memories/${encodeURIComponent(memory)}/agents${rest}`;
}

async function list(options: AgentOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const agents = await withConnection(options, (connection) => allPages(connection, pathOf(options), 'agents'));
  if (options.json) return printJson({ agents, total: agents.length });
  if (agents.length === 0) return printLine('There are no agents.');
  printTable(
    [
      { title: 'agent' },
      { title: 'status' },
      { title: 'trust', align: 'right' },
      { title: 'grains', align: 'right' },
      { title: 'last seen (UTC)' },
    ],
    agents.map((agent) => [
      clipped(text(agent['agent_id']), 40),
      text(agent['status']),
      score(agent['trust_score']),
      text(agent['grains_written']),
      time(agent['last_seen_at']),
    ]),
  );
}

async function register(agentId: string | undefined, options: RegisterOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const { name, did, publicKey, capability } = options;
  const json: JsonObject = defined({
    agent_id: agentId,
    name,
    did,
    public_key: publicKey,
    capabilities: capability && [...capability],
  });
  const identity = await withConnection(options, (connection) =>
    connection.json('POST', pathOf(options, '/identities'), { json }),
  );
  if (options.json) return printJson(identity);
  printLine(`${text(identity['agent_id'])} is registered.`);
}

async function show(agentId: string, options: ShowOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const agent = await withConnection(options, (connection) =>
    connection.json('GET', pathOf(options, `/${encodeURIComponent(agentId)}`), { query: { limit: options.limit } }),
  );
  if (options.json) return printJson(agent);
  const { identity, trust_history: history } = agent;
  const known = objectOf(identity);
  printLine(`${text(agent['agent_id'])}: ${text(agent['status'])}, trust ${score(agent['trust_score'])}`);
  const facts: readonly (readonly [string, string])[] = [
    ['name', text(known['name'])],
    ['did', text(known['did'])],
    ['capabilities', Array.isArray(known['capabilities']) ? known['capabilities'].join(', ') : ''],
    ['registered', time(known['created_at'])],
    ['deactivated', [time(known['deactivated_at']), text(known['deactivation_reason'])].join(' ').trim()],
    ['last seen', time(agent['last_seen_at'])],
    ['grains', text(agent['grains_written'])],
    [
      'actions',
      `${text(agent['successful_actions'])} succeeded, ${text(agent['failed_actions'])} failed; the policy refused ${counted(Number(agent['policy_refusals']), 'request')}`,
    ],
  ];
  for (const [title, value] of facts) if (value !== '') printLine(`  ${title.padEnd(13)}${value}`);
  if (!Array.isArray(history) || history.length === 0) return;
  printLine('');
  printTable(
    [
      { title: 'time (UTC)' },
      { title: 'trust', align: 'right' },
      { title: 'change', align: 'right' },
      { title: 'reason' },
      { title: 'action' },
    ],
    objectsOf(history).map((point) => [
      time(point['timestamp']),
      score(point['score']),
      signed(point['delta']),
      text(point['reason']).replaceAll('_', ' '),
      text(point['action_hash']).slice(0, 16),
    ]),
  );
}

async function deactivate(agentId: string, options: DeactivateOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const { reason } = options;
  const identity = await withConnection(options, (connection) =>
    connection.json('POST', pathOf(options, `/identities/${encodeURIComponent(agentId)}/deactivate`), {
      json: defined({ reason }),
    }),
  );
  if (options.json) return printJson(identity);
  printLine(`${text(identity['agent_id'])} is deactivated: it can no longer write.`);
}

function score(value: JsonValue | undefined): string {
  return typeof value === 'number' ? value.toFixed(3) : '';
}

function signed(value: JsonValue | undefined): string {
  return typeof value === 'number' ? `${value < 0 ? '' : '+'}${value.toFixed(3)}` : '';
}

function time(value: JsonValue | undefined): string {
  return typeof value === 'number' ? utc(value) : '';
}

function text(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : String(value);
}
