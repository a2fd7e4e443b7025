// `granary memories`: lists, creates and deletes memories.
import { type Command, Option } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { type JsonObject, type JsonValue, objectOf } from '../engine/grain/api/json-value.ts';
import { usage } from './failure.ts';
import { gather, integer, type ServerOptions, withServerOptions } from './options.ts';
import { clipped, printJson, printLine, printTable, utc } from './output.ts';
import { allPages } from './pages.ts';
import { withProofFile } from './proof-file.ts';
import { printWouldGo } from './would-go.ts';

interface CreateOptions extends ServerOptions {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly partitions?: number | undefined;
  readonly language?: string | undefined;
  readonly dedup?: string | undefined;
  readonly dedupThreshold?: string | undefined;
  readonly policy?: readonly string[] | undefined;
}

export function registerMemories(program: Command): void {
  const memories = program.command('memories').description('List, create and delete memories');
  withServerOptions(
    memories.command('list', { isDefault: true }).description('List all memories that the key may see'),
  ).action(list);
  withServerOptions(
    memories
      .command('create')
      .description('Create a memory')
      .argument('[id]', 'letters, digits, ".", "_", "-"; default: derived from the name')
      .option('--name <text>', 'name of the memory')
      .option('--description <text>', 'description of the memory')
      .option(
        '--partitions <n>',
        'number of partitions, from 1 to the number of shards; the default is 1',
        integer(1, 64),
      )
      .option(
        '--language <code>',
        'ISO 639-1 code of the language of the text index, fixed at creation; the default is en',
      )
      .option(
        '--policy <preset>',
        'names of the policy presets that hold from the first grain on; repeat the option for more',
        gather,
      )
      .addOption(
        new Option('--dedup <how>', 'how duplicates are recognised; the default is exact').choices([
          'none',
          'exact',
          'fuzzy',
          'upsert',
        ]),
      )
      .option(
        '--dedup-threshold <share>',
        'similarity of objects from which dedup fuzzy treats grains as duplicates, from 0 to 1; the default is 0.85',
      ),
  ).action(create);
  withServerOptions(
    memories
      .command('delete')
      .description('Delete a memory: its keys are destroyed, so no copy of it can be decrypted')
      .argument('<id>')
      .option('--yes', 'carry it out; without --yes, only show what would be removed')
      .option('--proof <file>', 'write the signed proof to this new file, as JSON'),
  ).action(remove);
}

async function list(options: ServerOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const memories = await withConnection(options, (connection) => allPages(connection, '/memories', 'memories'));
  if (options.json) return printJson({ memories, total: memories.length });
  if (memories.length === 0) return printLine('No memories.');
  printTable(
    [{ title: 'id' }, { title: 'name' }, { title: 'made (UTC)' }, { title: 'description' }],
    memories.map((memory) => [
      text(memory['id']),
      clipped(text(memory['name']), 40),
      utc(Number(memory['created_at'])),
      clipped(text(memory['description']), 60),
    ]),
  );
}

async function create(id: string | undefined, options: CreateOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const { name, description, partitions, language, dedup } = options;
  const threshold = options.dedupThreshold === undefined ? undefined : Number(options.dedupThreshold);
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 1))
    throw usage('--dedup-threshold must be a number from 0 to 1');
  const json: JsonObject = defined({
    id,
    name,
    description,
    language,
    dedup,
    partitions,
    policies: options.policy && [...options.policy],
    dedup_threshold: threshold,
  });
  const memory = await withConnection(options, (connection) => connection.json('POST', '/memories', { json }), {
    mayCreate: true,
  });
  if (options.json) return printJson(memory);
  printLine(`Memory ${text(memory['id'])} is created.`);
}

interface RemoveOptions extends ServerOptions {
  readonly yes?: true | undefined;
  readonly proof?: string | undefined;
}

async function remove(id: string, options: RemoveOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const ask = (query: { readonly confirm: true } | { readonly dry_run: true }): Promise<JsonObject> =>
    withConnection(options, (connection) =>
      connection.json('DELETE', `/memories/${encodeURIComponent(id)}`, { query }),
    );
  if (options.yes !== true) return printWouldGo(await ask({ dry_run: true }), options);
  let answer: JsonObject = {};
  const proven = async (): Promise<JsonObject> => {
    answer = await ask({ confirm: true });
    return objectOf(answer['signed_proof']);
  };
  if (options.proof === undefined) await proven();
  else await withProofFile(options.proof, proven);
  if (options.json) return printJson(answer);
  printLine(`Memory ${id} is deleted; the fingerprint of its destroyed key is ${text(answer['key_fingerprint'])}.`);
}

function text(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : String(value);
}
