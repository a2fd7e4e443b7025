// `granary policy`: shows a memory's sealed policy, simulates a change, and applies it.
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { parseJson } from '../engine/grain/api/json.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import { EXIT } from './exit-codes.ts';
import { usage } from './failure.ts';
import { gather, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printLine, printPairs, printTable, utc } from './output.ts';

interface PolicyOptions extends ServerOptions {
  readonly memory: string;
  readonly version?: string | undefined;
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
  readonly set?: readonly string[] | undefined;
  readonly overrides?: string | undefined;
  readonly reason?: string | undefined;
}

export function registerPolicy(program: Command): void {
  const policy = program.command('policy').description('Show, simulate and apply the sealed policy of a memory');
  withServerOptions(
    withMemoryOption(
      policy
        .command('show', { isDefault: true })
        .description('Show the policy in force, or a version of it')
        .option('--version <n>', 'version of the policy to show'),
    ),
  ).action(show);
  withServerOptions(
    withMemoryOption(
      withChange(policy.command('simulate').description('Show the effect of a change without applying it')),
    ),
  ).action(simulate);
  withServerOptions(
    withMemoryOption(withChange(policy.command('apply').description('Seal the next version of the policy'))),
  ).action(apply);
}

function withChange(command: Command): Command {
  return command
    .option('--add <preset>', 'names of the policy presets to add; repeat the option for more', gather)
    .option('--remove <preset>', 'names of the policy presets to remove; repeat the option for more', gather)
    .option('--set <rule=value>', 'override a rule (consent.mode=opt_in); repeat the option for more', gather)
    .option('--overrides <file>', 'overrides from a JSON file')
    .option('--reason <text>', 'why the policy changes, which loosening needs');
}

async function show(options: PolicyOptions): Promise<void> {
  const { version } = options;
  const answer = await ask(
    options,
    'GET',
    `policy${version === undefined ? '' : `?version=${encodeURIComponent(version)}`}`,
  );
  if (options.json) return printJson(answer);
  printPolicy(answer);
}

async function simulate(options: PolicyOptions): Promise<void> {
  const answer = await ask(options, 'POST', 'policy/simulate', await changeOf(options));
  if (answer['allowed'] !== true) process.exitCode = EXIT.failed;
  if (options.json) return printJson(answer);
  printLine(`${String(answer['change'])}${answer['allowed'] === true ? '' : ', refused'}`);
  for (const error of rowsOf(answer['errors'])) printLine(String(error['message']));
  printTable(
    [{ title: 'rule' }, { title: 'from' }, { title: 'to' }, { title: 'direction' }],
    rowsOf(answer['diff']).map((one) => [
      String(one['path']),
      JSON.stringify(one['from']),
      JSON.stringify(one['to']),
      String(one['direction']),
    ]),
  );
  printPairs(
    Object.entries(objectOf(answer['impact'])).map(([name, count]) => [name.replaceAll('_', ' '), Number(count)]),
  ); // counts
}

async function apply(options: PolicyOptions): Promise<void> {
  const answer = await ask(options, 'PUT', 'policy', await changeOf(options));
  if (options.json) return printJson(answer);
  printLine(`${String(answer['change'])}.`);
  printPolicy(answer);
}

async function ask(
  options: PolicyOptions,
  verb: 'GET' | 'POST' | 'PUT',
  path: string,
  json?: JsonObject,
): Promise<JsonObject> {
  const { withConnection } = await import('./connection.ts');
  return withConnection(options, (connection) =>
    connection.json(verb, `/memories/${encodeURIComponent(options.memory)}/${path}`, defined({ json })),
  );
}

async function changeOf({ add, remove, set, overrides, reason }: PolicyOptions): Promise<JsonObject> {
  const fromFile = overrides === undefined ? {} : rulesOf(parseJson(await readFile(overrides, 'utf8')));
  const all: JsonObject = { ...fromFile, ...Object.fromEntries((set ?? []).map(ruleOf)) };
  return defined({
    add_policies: add && [...add],
    remove_policies: remove && [...remove],
    overrides: Object.keys(all).length === 0 ? undefined : all,
    reason,
  });
}

function rulesOf(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw usage('--overrides must be a file with a JSON object of rules');
  return value;
}

/** Parses `consent.mode=opt_in`. The value is JSON if it parses as such, otherwise a string. */
function ruleOf(text: string): readonly [string, JsonValue] {
  const at = text.indexOf('=');
  if (at < 1) throw usage(`--set must be rule=value, not ${text}`);
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), parseJson(value) as JsonValue]; // just parsed
  } catch {
    return [text.slice(0, at), value];
  }
}

function printPolicy(policy: JsonObject): void {
  const presets = Array.isArray(policy['presets']) ? policy['presets'].map(String) : [];
  const sealedAt = Number(policy['sealed_at']);
  printPairs([
    ['version', Number(policy['version'])],
    ['presets', presets.length === 0 ? 'baseline' : presets.join(', ')],
    ['seal', String(policy['seal_hash'])],
    ...(sealedAt === 0
      ? []
      : ([
          ['sealed', `${utc(sealedAt)} UTC by ${String(policy['sealed_by'])}`],
          ['reason', String(policy['reason'] ?? '')],
        ] as const)),
  ]);
  const groups = objectOf(policy['rules']); // service contract 10.1
  printTable(
    [{ title: 'rule' }, { title: 'value' }],
    Object.entries(groups).flatMap(([group, rules]) =>
      Object.entries(objectOf(rules)).map(([name, value]) => [`${group}.${name}`, JSON.stringify(value)]),
    ),
  );
}

function rowsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return objectsOf(value);
}
