// `granary models`: list the models of the providers, and assign them to roles.
import type { Command } from 'commander';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import { usage } from './failure.ts';
import { type ServerOptions, withServerOptions } from './options.ts';
import { printJson, printLine, printTable } from './output.ts';
import { itemsOf } from './pages.ts';

const ROLES = 'chat, extraction, embedding, rerank, hyde or consolidation';

interface ListOptions extends ServerOptions {
  readonly capability?: string | undefined;
  readonly provider?: string | undefined;
}

export function registerModels(program: Command): void {
  const models = program.command('models').description('List models, and assign them to roles');
  withServerOptions(
    models
      .command('list', { isDefault: true })
      .description('List the models of the providers that are switched on')
      .option('--capability <name>', 'only models for chat, embedding, rerank, extraction or ner')
      .option('--provider <id>', 'only models of this provider'),
  ).action(list);
  withServerOptions(models.command('roles').description('Show the model of each role')).action(roles);
  withServerOptions(
    models
      .command('assign')
      .description('Give a role a model, or none')
      .argument('<role>', ROLES)
      .argument('<provider>', 'id of the provider, or none')
      .argument('[model]', 'name of the model'),
  ).action(assign);
}

async function list(options: ListOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const { capability, provider } = options;
  const path = provider === undefined ? '/models' : `/settings/providers/${encodeURIComponent(provider)}/models`;
  const found = await withConnection(options, async (connection) => {
    const all: JsonObject[] = [];
    const query = capability === undefined || provider !== undefined ? {} : { capability };
    for await (const model of itemsOf(connection, path, 'models', query)) all.push(model);
    return all;
  });
  const models = found.filter(
    ({ capabilities }) => capability === undefined || listOf(capabilities).includes(capability),
  );
  if (options.json) return printJson({ models, total: models.length });
  if (models.length === 0) return printLine('There are no models.');
  printTable(
    [
      { title: 'provider' },
      { title: 'model' },
      { title: 'for' },
      { title: 'tokens', align: 'right' },
      { title: 'dimensions', align: 'right' },
    ],
    models.map((model) => [
      text(model['provider']),
      text(model['id']),
      listOf(model['capabilities']).join(', '),
      text(model['context_window']),
      text(model['dimensions']),
    ]),
  );
}

async function roles(options: ServerOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  show(await withConnection(options, (connection) => connection.json('GET', '/settings/model-assignments')), options);
}

async function assign(
  role: string,
  provider: string,
  model: string | undefined,
  options: ServerOptions,
): Promise<void> {
  if (provider !== 'none' && model === undefined)
    throw usage('give the model after the provider; `none` as the provider clears the role');
  const { withConnection } = await import('./connection.ts');
  const assigned = model === undefined ? null : { provider, model };
  const json = { assignments: { [role]: assigned } };
  show(
    await withConnection(options, (connection) => connection.json('PUT', '/settings/model-assignments', { json })),
    options,
  );
}

function show(answer: JsonObject, options: ServerOptions): void {
  if (options.json) {
    printJson(answer);
    return;
  }
  const assignments = answer['assignments'] as Readonly<Record<string, JsonObject | null>>; // the contract: by role
  printTable(
    [{ title: 'role' }, { title: 'provider' }, { title: 'model' }],
    Object.entries(assignments).map(([role, one]) => [role, text(one?.['provider']), text(one?.['model'])]),
  );
}

function listOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function text(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : String(value);
}
