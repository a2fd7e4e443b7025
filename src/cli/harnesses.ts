// `granary harnesses`: the agents of a memory: list, show, make, provision, change and remove them, and bind their tools.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { HARNESS_ITERATIONS_MAX } from '../engine/base/limits.ts';
import { parseJson } from '../engine/grain/api/json.ts';
import { type JsonObject, type JsonValue, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import { Failure, usage } from './failure.ts';
import { registerHarnessTalk } from './harness-talk.ts';
import type { Verb } from './http-caller.ts';
import { integer, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { counted, printable, printJson, printLine, printNote, printPairs, printTable, utc } from './output.ts';
import { allPages } from './pages.ts';

interface HarnessOptions extends ServerOptions {
  readonly memory: string;
}

interface CreateOptions extends HarnessOptions {
  readonly name?: string | undefined;
  readonly about?: string | undefined;
  readonly template?: string | undefined;
}

interface SettingOptions extends CreateOptions {
  readonly goal?: string | undefined;
  readonly prompt?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly query?: string | undefined;
  readonly iterations?: number | undefined;
}

interface RemoveOptions extends HarnessOptions {
  readonly reason?: string | undefined;
}

export function registerHarnesses(program: Command): void {
  const harnesses = program.command('harnesses').description('Manage the agents of a memory and their tools');
  const part = (name: string, about: string): Command =>
    withServerOptions(withMemoryOption(harnesses.command(name).description(about)));
  withServerOptions(
    withMemoryOption(harnesses.command('list', { isDefault: true }).description('List the harnesses')),
  ).action(list);
  part('show', 'Show a harness: its goal, prompt, query and tools').argument('<slug>').action(show);
  part('templates', 'List the templates, or show one with its tools').argument('[template]').action(templates);
  withNames(part('create', 'Create a harness, as a draft').argument('<slug>')).action(create);
  withSettings(
    part('provision', 'Create or change a harness that is ready to take turns')
      .argument('<slug>')
      .argument('[file]', 'JSON with the same settings as the options, and tools and workflow; "-" is standard input'),
  ).action(provision);
  part('bind-tool', 'Give a harness a tool, or replace one')
    .argument('<slug>')
    .argument('<file>', 'JSON with tool_name, description, input_schema and location; "-" is standard input')
    .action(bindTool);
  part('tools', 'List the tools of a harness').argument('<slug>').action(tools);
  withSettings(
    part('edit', 'Change the settings of a harness; options that are left out keep their values').argument('<slug>'),
  ).action(edit);
  part('remove', 'Delete a harness with its history; its conversations stay')
    .argument('<slug>')
    .option('--reason <text>', 'why it is deleted; some policies require it')
    .action(remove);
  registerHarnessTalk(harnesses);
}

function withNames(command: Command): Command {
  return command
    .option('--name <text>', 'name for people; the default is the slug')
    .option('--about <text>', 'what the harness is for')
    .option('--template <slug>', 'template to start from: see granary harnesses templates');
}

function withSettings(command: Command): Command {
  return withNames(command)
    .option('--goal <text>', 'goal of the agent')
    .option('--prompt <text>', 'instructions for the model; @FILE reads them from a file')
    .option('--model <name>', 'model that answers; an empty text means the model of the role chat')
    .option('--provider <name>', 'provider of the model')
    .option('--query <text>', 'name of an assemble query, or CAL text; @FILE reads it from a file')
    .option('--iterations <n>', 'calls of the model that one turn may make', integer(1, HARNESS_ITERATIONS_MAX));
}

async function ask(options: HarnessOptions, verb: Verb, route: string, json?: JsonObject, reason?: string) {
  const { withConnection } = await import('./connection.ts');
  const path = `/memories/${encodeURIComponent(options.memory)}/${route}`;
  return withConnection(options, (connection) => connection.json(verb, path, defined({ json, reason })));
}

const at = (slug: string, rest = ''): string => `harnesses/${encodeURIComponent(slug)}${rest}`;

async function list(options: HarnessOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const path = `/memories/${encodeURIComponent(options.memory)}/harnesses`;
  const found = await withConnection(options, (connection) => allPages(connection, path, 'harnesses'));
  if (options.json) return printJson({ harnesses: found, total: found.length });
  if (found.length === 0) return printLine('There are no harnesses.');
  printTable(
    [
      { title: 'slug', width: 24 },
      { title: 'status', width: 13 },
      { title: 'tools', align: 'right', width: 7 },
      { title: 'goal', width: 44 },
    ],
    found.map(({ slug, status, tools: bound, goal }) => [text(slug), text(status), count(bound), text(goal)]),
  );
}

async function show(slug: string, options: HarnessOptions): Promise<void> {
  printHarness(await ask(options, 'GET', at(slug)), options);
}

function printHarness(harness: JsonObject, options: HarnessOptions): void {
  if (options.json) {
    printJson(harness);
    return;
  }
  const { tools: bound, system_prompt: prompt } = harness;
  const named = objectsOf(bound).map(({ tool_name: name }) => text(name));
  const chosen = ['provider', 'model'].map((name) => text(harness[name])).filter((name) => name !== '');
  const rows: readonly (readonly [string, string])[] = [
    ['slug', text(harness['slug'])],
    ['name', text(harness['name'])],
    ['about', text(harness['description'])],
    ['template', text(harness['template'])],
    ['status', text(harness['status'])],
    ['goal', text(harness['goal'])],
    ['model', chosen.length === 0 ? 'that of the role chat' : chosen.join(' ')],
    ['query', text(harness['assemble_query'])],
    ['iterations', text(harness['max_iterations'])],
    ['tools', named.join(', ')],
    ['changed', utc(Number(harness['updated_at']))],
  ];
  printPairs(rows.filter(([, value]) => value !== ''));
  if (text(prompt) === '') return;
  printLine();
  printLine(printable(text(prompt)));
}

async function templates(slug: string | undefined, options: HarnessOptions): Promise<void> {
  const { result } = await ask(options, 'POST', 'app/exec', { command: 'harness_templates' });
  const { templates: found } = objectOf(result);
  const all = objectsOf(found);
  if (slug === undefined) {
    if (options.json) return printJson({ templates: [...all] });
    return printTable(
      [
        { title: 'template', width: 22 },
        { title: 'what it does', width: 66 },
      ],
      all.map(({ slug: name, description }) => [text(name), text(description)]),
    );
  }
  const template = all.find((one) => one['slug'] === slug);
  if (template === undefined)
    throw new Failure('HRN-E009', `there is no template ${slug}: granary harnesses templates lists them`);
  if (options.json) return printJson(template);
  printPairs([
    ['template', text(template['slug'])],
    ['about', text(template['description'])],
    ['goal', text(template['goal'])],
    ['query', text(template['assemble_query'])],
  ]);
  printLine();
  printLine(printable(text(template['system_prompt'])));
  printLine();
  printTools(objectsOf(template['tools']));
}

function printTools(all: readonly JsonObject[]): void {
  printTable(
    [
      { title: 'tool', width: 24 },
      { title: 'runs at', width: 28 },
      { title: 'what it does', width: 36 },
    ],
    all.map((tool) => [
      text(tool['tool_name']),
      text(tool['executor_uri'] ?? tool['location'] ?? tool['executor_kind']),
      text(tool['description']),
    ]),
  );
}

async function create(slug: string, options: CreateOptions): Promise<void> {
  const { name = slug, about: description, template } = options;
  printHarness(await ask(options, 'POST', 'harnesses', defined({ slug, name, description, template })), options);
}

async function provision(slug: string, file: string | undefined, options: SettingOptions): Promise<void> {
  const body = file === undefined ? {} : readObject(file);
  const answer = await ask(options, 'POST', at(slug, '/provision'), { ...body, ...settingsOf(options) });
  if (options.json) return printJson(answer);
  const tools = count(answer['tool_hashes']);
  printLine(`Harness ${slug} is provisioned with ${counted(tools, 'tool')}.`);
}

async function bindTool(slug: string, file: string, options: HarnessOptions): Promise<void> {
  const answer = await ask(options, 'POST', at(slug, '/bind-tool'), readObject(file));
  if (options.json) return printJson(answer);
  printLine(
    `Tool ${text(answer['tool_name'])} is bound to ${slug}; it is run by the ${text(answer['executor_kind'])}.`,
  );
}

async function tools(slug: string, options: HarnessOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const path = `/memories/${encodeURIComponent(options.memory)}/${at(slug, '/tools')}`;
  const found = await withConnection(options, (connection) => allPages(connection, path, 'tools'));
  if (options.json) return printJson({ tools: found, total: found.length });
  if (found.length === 0) return printLine(`Harness ${slug} has no tools.`);
  printTools(found);
}

async function edit(slug: string, options: SettingOptions): Promise<void> {
  const changes = settingsOf(options);
  if (Object.keys(changes).length === 0) throw usage('nothing to change: give an option');
  if (options.template !== undefined) throw usage('--template works only with create and provision');
  printHarness(await ask(options, 'PATCH', at(slug), changes), options);
}

async function remove(slug: string, options: RemoveOptions): Promise<void> {
  const answer = await ask(options, 'DELETE', at(slug), undefined, options.reason);
  if (options.json) return printJson(answer);
  printLine(`Harness ${slug} is deleted.`);
  printNote('Its conversations stay in the memory.');
}

function settingsOf(options: SettingOptions): JsonObject {
  const { name, about: description, template, goal, prompt, model, provider, query, iterations } = options;
  return defined({
    name,
    description,
    template,
    goal,
    system_prompt: prompt === undefined ? undefined : textOrFile(prompt),
    model,
    provider,
    assemble_query: query === undefined ? undefined : textOrFile(query),
    max_iterations: iterations,
  });
}

function textOrFile(value: string): string {
  return value.startsWith('@') ? readText(value.slice(1)) : value;
}

function readObject(file: string): JsonObject {
  const content = readText(file);
  let value: JsonValue;
  try {
    value = parseJson(content);
  } catch {
    throw new Failure('FILE', `${file} is not JSON`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Failure('FILE', `${file} holds no JSON object`);
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new Failure('FILE', `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function count(value: JsonValue | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}

function text(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : String(value);
}
