// `granary remember`: stores a text and the beliefs found in it.
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { gather, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printLine, printNote } from './output.ts';

interface RememberOptions extends ServerOptions {
  readonly memory: string;
  readonly sync?: true | undefined;
  readonly dropSource?: true | undefined;
  readonly eventDate?: true | undefined;
  readonly namespace?: string | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  readonly tag?: readonly string[] | undefined;
}

export function registerRemember(program: Command): void {
  const command = program
    .command('remember')
    .description('Store a text as an event, and the beliefs that it states')
    .argument('<words...>', 'the text')
    .option('--sync', 'wait for the beliefs and print them')
    .option('--drop-source', 'delete the text once its beliefs are stored')
    .option('--event-date', 'the first date in the text sets valid_from where that is unset')
    .option('--namespace <name>', 'namespace of the grains')
    .option('--user <id>', 'the data subject')
    .option('--session <id>', 'session that the text belongs to')
    .option('--tag <tag>', 'tags of the source event; repeat the option for more', gather)
    .addHelpText(
      'after',
      `
Examples:
  granary remember "I live in Paris and I work at Acme." --user ada
  granary remember "We moved to Oslo in June 2020." --sync --event-date`,
    );
  withServerOptions(withMemoryOption(command)).action(remember);
}

async function remember(words: string[], options: RememberOptions): Promise<void> {
  const [{ withConnection }, { RPC }] = await Promise.all([import('./connection.ts'), import('./rpcs.ts')]);
  const { memory, sync, namespace, user, session, tag } = options;
  const request = defined({
    text: words.join(' '),
    extractMode: sync ? 'sync' : 'async',
    keepSource: options.dropSource !== true,
    extractEventDate: options.eventDate === true,
    namespace,
    userId: user,
    sessionId: session,
    tags: tag && [...tag],
  });
  const { answer, said } = await withConnection(
    options,
    async (connection) => {
      const answer = await connection.call(RPC.remember, request, { memory });
      const grains = options.json
        ? []
        : await Promise.all(answer.extractedHashes.map((hash) => connection.call(RPC.get, { hash }, { memory })));
      return { answer, said: grains.map(({ fieldsJson }) => fieldsJson) };
    },
    { mayCreate: true },
  );
  const { sourceHash, mode, extractedHashes, extractedCount, warnings, sourceForgotten, markerStatus } = answer;
  if (options.json)
    return printJson({
      source_hash: sourceHash,
      mode,
      extracted_hashes: extractedHashes,
      extracted_count: extractedCount,
      warnings,
      source_forgotten: sourceForgotten,
      marker_status: markerStatus ?? null,
    });
  for (const warning of warnings) printNote(warning);
  printLine(sourceForgotten ? `${sourceHash} (forgotten)` : sourceHash);
  for (const [at, fields] of said.entries()) printLine(`${extractedHashes[at]?.slice(0, 12)}  ${tripleOf(fields)}`);
}

/** Subject, relation and object of a belief, from the server's fields. */
function tripleOf(fieldsJson: string): string {
  const { subject, relation, object } = JSON.parse(fieldsJson) as Readonly<Record<string, string>>; // a belief's fields
  return `${subject} ${relation} ${object}`;
}
