// `granary model`: the sentence models that this server can run itself. Lists those of the catalogue and of the data
// directory, downloads one, and makes one the embedder of the deployment.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { readModelFolder } from '../embed/onnx/model-folder.ts';
import { isModelName, LocalModels, MODELS_FOLDER } from '../server/embedding/local-models.ts';
import { OWN_MODELS } from '../server/models/roles.ts';
import { Failure, usage } from './failure.ts';
import { bytesOf, CATALOGUE, type CatalogueModel } from './model/catalogue.ts';
import { download, urlOf } from './model/download.ts';
import { type ServerOptions, withServerOptions } from './options.ts';
import { bytes, printJson, printLine, printNote, printTable } from './output.ts';
import { Progress } from './progress.ts';

const HUB = 'https://huggingface.co';
/** Stands for a model where the embedder of the start options is meant. */
const START = 'start';

interface PullOptions extends ServerOptions {
  readonly hub: string;
}

export function registerModel(program: Command): void {
  const model = program
    .command('model')
    .description('List, download and use sentence models that the server runs itself');
  withServerOptions(
    model
      .command('list', { isDefault: true })
      .description('List the models of the catalogue and of the data directory'),
  ).action(list);
  withServerOptions(
    model
      .command('pull')
      .description('Download a model of the catalogue; an interrupted download is resumed')
      .argument('<name>', 'name in the catalogue')
      .addOption(new Option('--hub <url>', 'where the models are').default(HUB).env('GRANARY_MODEL_HUB')),
  ).action(pull);
  withServerOptions(
    model
      .command('use')
      .description(
        'Make a model the embedder of all memories that name none; they are embedded again in the background',
      )
      .argument('<name>', `name of a model, or ${START} for the embedder of the start options`),
  ).action(use);
}

interface Row {
  readonly name: string;
  /** Whether its folder is in the data directory. */
  readonly isHere: boolean;
  /** Why the folder cannot be used. */
  readonly problem?: string | undefined;
  readonly entry?: CatalogueModel | undefined;
}

function rowsIn(dataDir: string): readonly Row[] {
  const models = new LocalModels({ dataDir, embedderModel: undefined });
  const here = models.list();
  const known = CATALOGUE.map((entry) => ({ name: entry.name, entry }));
  const others = here.filter((name) => !CATALOGUE.some((entry) => entry.name === name)).map((name) => ({ name }));
  return [...known, ...others].map((row) => {
    const folder = models.folderOf(row.name);
    return { ...row, isHere: folder !== undefined, problem: folder === undefined ? undefined : problemOf(folder) };
  });
}

function problemOf(folder: string): string | undefined {
  try {
    readModelFolder(folder);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function list(options: ServerOptions): Promise<void> {
  const rows = rowsIn(options.dataDir);
  if (options.json)
    return printJson({
      models: rows.map(({ name, isHere, problem, entry }) => ({
        name,
        installed: isHere && problem === undefined,
        problem: problem ?? null,
        role: entry?.role,
        bytes: entry && bytesOf(entry),
        dimensions: entry && (entry.dimensions ?? null),
        languages: entry?.languages,
        licence: entry?.licence,
        repository: entry?.repository,
        revision: entry?.revision,
        files: entry?.files,
      })),
      folder: join(options.dataDir, MODELS_FOLDER),
    });
  printTable(
    [
      { title: 'model' },
      { title: 'here' },
      { title: 'size', align: 'right' },
      { title: 'dimensions', align: 'right' },
      { title: 'languages' },
      { title: 'licence' },
      { title: 'about' },
    ],
    rows.map(({ name, isHere, problem, entry }) => [
      name,
      problem !== undefined ? 'unusable' : isHere ? 'yes' : 'no',
      entry === undefined ? '' : bytes(bytesOf(entry)),
      entry?.dimensions ?? '',
      entry?.languages ?? '',
      entry?.licence ?? '',
      entry?.about ?? 'your own',
    ]),
  );
  for (const { problem } of rows) if (problem !== undefined) printNote(problem);
  printNote(`Models are folders in ${join(options.dataDir, MODELS_FOLDER)}.`);
}

async function pull(name: string, options: PullOptions): Promise<void> {
  const model = CATALOGUE.find((entry) => entry.name === name);
  if (model === undefined)
    throw usage(
      `the catalogue has no model ${name}; it has ${CATALOGUE.map((entry) => entry.name).join(', ')}. ` +
        `Put any other into a folder of its own in ${join(options.dataDir, MODELS_FOLDER)}`,
    );
  const folder = join(options.dataDir, MODELS_FOLDER, name);
  if (existsSync(folder)) {
    if (options.json) return printJson({ name, folder, downloaded: false });
    return printLine(`${name} is in ${folder} already.`);
  }
  const hub = options.hub.replace(/\/+$/, '');
  const progress = new Progress(`pulling ${name}`, 'bytes', options.json !== true);
  try {
    const all = bytesOf(model);
    await download({ model, hub, folder, arrived: (_, done) => progress.update(done, done / all) });
  } catch (error) {
    if (error instanceof Failure && error.code === 'NETWORK')
      throw new Failure('NETWORK', byHand(error, model, folder), true);
    throw error;
  } finally {
    progress.end();
  }
  if (options.json) return printJson({ name, folder, downloaded: true });
  printLine(`${name} (${bytes(bytesOf(model))}, ${model.licence}) is in ${folder}.`);
  printNote(
    model.role === 'rerank'
      ? `Use it: granary models assign rerank ${OWN_MODELS} ${name}`
      : `Use it: granary model use ${name}, or as "vector_backend": "${OWN_MODELS}:${name}" of a memory.`,
  );
}

/** The error, with what to put where on a machine without a network. */
function byHand({ message }: Failure, model: CatalogueModel, folder: string): string {
  const files = model.files.map(
    (file) => `  ${join(folder, file.name)}: ${urlOf(HUB, model, file)} (${file.bytes} bytes, SHA-256 ${file.sha256})`,
  );
  return [
    message,
    'Run the command again to resume the download. Without a network, put these files in place:',
    ...files,
    `  ${join(folder, 'granary-model.json')}: ${JSON.stringify(model.settings)}`,
  ].join('\n');
}

async function use(name: string, options: ServerOptions): Promise<void> {
  if (name !== START && !isModelName(name))
    throw usage(`${name} is not the name of a model: granary model list shows the names`);
  const { withConnection } = await import('./connection.ts');
  const embedding = name === START ? null : { provider: OWN_MODELS, model: name };
  const answer = await withConnection(options, (connection) =>
    connection.json('PUT', '/settings/model-assignments', { json: { assignments: { embedding } } }),
  );
  if (options.json) return printJson(answer);
  if (name === START) return printLine('Vectors come from the embedder of the start options again.');
  printLine(`${name} makes vectors for all memories that name no embedder of their own.`);
  printNote(
    'Memories are embedded again in the background; until then searches use their old vectors (granary stats shows the state).',
  );
}
