// `granary providers`: list, set, remove and test the providers of models. A provider's key comes from the environment or
// from standard input, because all users of a machine can see command lines.
import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import { EXIT } from './exit-codes.ts';
import { usage } from './failure.ts';
import { type ServerOptions, withServerOptions } from './options.ts';
import { printJson, printLine, printNote, printTable, utc } from './output.ts';
import { allPages } from './pages.ts';

/** The variable that a provider's key is read from. */
const KEY_VARIABLE = 'GRANARY_PROVIDER_KEY';
/** Kinds whose services answer nobody without a key. */
const NEEDS_KEY: ReadonlySet<string> = new Set(['openai', 'anthropic']);

interface SetOptions extends ServerOptions {
  readonly kind: string;
  readonly baseUrl?: string | undefined;
  readonly region?: string | undefined;
  readonly keyStdin?: true | undefined;
  readonly on?: true | undefined;
  readonly off?: true | undefined;
}

interface TestOptions extends ServerOptions {
  readonly model?: string | undefined;
}

export function registerProviders(program: Command): void {
  const providers = program.command('providers').description('List, set, remove and test the providers of models');
  withServerOptions(
    providers.command('list', { isDefault: true }).description('List providers, without their keys'),
  ).action(list);
  withServerOptions(
    providers
      .command('set')
      .description(`Create a provider, or replace its settings; its key is read from ${KEY_VARIABLE}`)
      .argument('<id>', 'name of the provider in this deployment')
      .requiredOption('--kind <kind>', 'openai, anthropic, ollama, openai_compatible or mock')
      .option('--base-url <url>', "address of its interface, with the version; the default is the kind's usual one")
      .option('--region <name>', 'region where it processes texts, as policies name it')
      .option('--key-stdin', 'read the key from standard input instead')
      .option('--on', 'allow calls to it')
      .option('--off', 'forbid calls to it'),
  ).action(set);
  withServerOptions(providers.command('remove').description('Remove a provider with its key').argument('<id>')).action(
    remove,
  );
  withServerOptions(
    providers
      .command('test')
      .description('Test a provider: ask it for its models, or one model for a word or a vector')
      .argument('<id>')
      .option('--model <name>', 'the model to ask'),
  ).action(test);
}

function pathOf(id: string, rest = ''): string {
  return `/settings/providers/${encodeURIComponent(id)}${rest}`;
}

async function list(options: ServerOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const providers = await withConnection(options, (connection) =>
    allPages(connection, '/settings/providers', 'providers'),
  );
  if (options.json) return printJson({ providers, total: providers.length });
  if (providers.length === 0) return printLine('There are no providers.');
  printTable(
    [
      { title: 'id' },
      { title: 'kind' },
      { title: 'address' },
      { title: 'key' },
      { title: 'region' },
      { title: 'state' },
    ],
    providers.map((provider) => [
      text(provider['id']),
      text(provider['kind']),
      text(provider['base_url']),
      keyOf(provider),
      text(provider['region']),
      stateOf(provider),
    ]),
  );
}

function keyOf({ api_key_set: isSet, api_key_last4: last }: JsonObject): string {
  if (isSet !== true) return '';
  return last === undefined ? 'set' : `…${text(last)}`;
}

function stateOf(provider: JsonObject): string {
  const cached = provider['models_cached_at'];
  const state = provider['enabled'] === true ? 'on' : 'off';
  const fixed = provider['read_only'] === true ? ', read only' : '';
  return typeof cached === 'number' ? `${state}${fixed}, models of ${utc(cached)}` : `${state}${fixed}`;
}

async function set(id: string, options: SetOptions): Promise<void> {
  const { kind, baseUrl, region, on, off } = options;
  if (on === true && off === true) throw usage('give --on or --off, not both');
  const enabled = on === true ? true : off === true ? false : undefined;
  const key = await keyFor(options);
  const { withConnection } = await import('./connection.ts');
  const json: JsonObject = defined({ kind, base_url: baseUrl, region, enabled, api_key: key });
  const provider = await withConnection(options, (connection) => connection.json('PUT', pathOf(id), { json }));
  if (options.json) return printJson(provider);
  const made = provider['created'] === true ? 'made' : 'changed';
  printLine(`Provider ${id} is ${made}: ${text(provider['kind'])} ${text(provider['base_url'])}`.trimEnd());
  if (provider['api_key_set'] !== true && NEEDS_KEY.has(kind)) printNote(`It has no key: set ${KEY_VARIABLE}.`);
}

async function keyFor({ keyStdin }: SetOptions): Promise<string | undefined> {
  const key = keyStdin === true ? await readAll(process.stdin) : process.env[KEY_VARIABLE];
  return key === undefined || key.trim() === '' ? undefined : key.trim();
}

async function remove(id: string, options: ServerOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const answer = await withConnection(options, (connection) => connection.json('DELETE', pathOf(id)));
  if (options.json) return printJson(answer);
  printLine(`Provider ${id} is removed.`);
}

async function test(id: string, options: TestOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const json: JsonObject = defined({ model: options.model });
  const answer = await withConnection(options, (connection) => connection.json('POST', pathOf(id, '/test'), { json }));
  if (answer['ok'] !== true) process.exitCode = EXIT.failed;
  if (options.json) return printJson(answer);
  if (answer['ok'] === true) return printLine(`Provider ${id} answered in ${text(answer['latency_ms'])} ms.`);
  printLine(`Provider ${id} did not answer: ${text(answer['error'])}`);
}

function text(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : String(value);
}
