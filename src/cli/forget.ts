// `granary forget`: removes grains, or erases a user.
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { EXIT } from './exit-codes.ts';
import { failureOf, usage } from './failure.ts';
import { wholeHashes } from './hash.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { number, printJson, printLine, printNote, printPairs, utc } from './output.ts';
import { withProofFile } from './proof-file.ts';
import { printWouldGo } from './would-go.ts';

interface ForgetOptions extends ServerOptions {
  readonly memory: string;
  readonly subject?: string | undefined;
  readonly user?: string | undefined;
  readonly reason?: string | undefined;
  readonly yes?: true | undefined;
  readonly proof?: string | undefined;
}

export function registerForget(program: Command): void {
  const command = program
    .command('forget')
    .description('Remove grains by hash or subject, or erase a user (--user alone)')
    .argument('[hashes...]', 'full hashes, or at least the first 8 digits of each')
    .option('--subject <text>', 'forgets every grain with exactly this subject, all versions')
    .option('--user <id>', 'alone: the user to erase; with hashes or a subject: only grains of this user')
    .option('--reason <text>', 'why the grains are forgotten, which a policy may demand')
    .option('--yes', 'carry it out; without --yes, only show what would be removed')
    .option('--proof <file>', 'write the erasure proof to this new file, as JSON');
  withServerOptions(withMemoryOption(command)).action(forget);
}

/**
 * The signed proof of an erasure that has taken place. Where it cannot be had, the answer of the erasure stands in its
 * place: nothing of the erasure may get lost now.
 */
async function signedProof(options: ForgetOptions, memory: string, answer: JsonObject): Promise<JsonObject> {
  const { fetchProof } = await import('./proof.ts');
  try {
    return await fetchProof(options, memory, String(answer['user_id']));
  } catch (error) {
    if (answer['key_fingerprint'] !== '')
      printNote(
        `The person is erased, but the proof is not signed: ${failureOf(error).text}. granary proof get fetches a signed one.`,
      );
    return { memory, ...answer };
  }
}

async function forget(hashes: string[], options: ForgetOptions): Promise<void> {
  const { memory, subject, user, reason } = options;
  if (hashes.length === 0 && subject === undefined && user === undefined)
    throw usage('nothing to forget: give hashes, --subject or --user');
  const erases = hashes.length === 0 && subject === undefined;
  const { proof } = options;
  if (proof !== undefined && !erases)
    throw usage('--proof is only for erasing a user: give --user without hashes or --subject');
  const { withConnection } = await import('./connection.ts');
  const path = `/memories/${encodeURIComponent(memory)}/forget`;
  const conditions: JsonObject = defined({
    subject,
    user_id: user,
    reason,
  });
  const isMeant = options.yes === true;
  const perform = (): Promise<JsonObject> =>
    withConnection(options, async (connection) => {
      const named = hashes.length === 0 ? {} : { hashes: await wholeHashes(connection, memory, hashes) };
      const json = defined({ ...named, ...conditions, dry_run: isMeant ? undefined : true });
      return connection.json('POST', path, { json });
    });
  if (!isMeant) return printWouldGo(await perform(), options);
  let answer: JsonObject = {};
  const proven = async (): Promise<JsonObject> => {
    answer = await perform();
    return signedProof(options, memory, answer);
  };
  if (proof === undefined) answer = await perform();
  else await withProofFile(proof, proven);
  const missing = Array.isArray(answer['not_found']) ? answer['not_found'] : [];
  if (missing.length > 0) process.exitCode = EXIT.failed;
  if (options.json) return printJson(answer);
  if (erases)
    return printPairs([
      ['user', String(answer['user_id'])],
      ['grains erased', Number(answer['count'])],
      ['key fingerprint', String(answer['key_fingerprint'])],
      ['at', `${utc(Number(answer['timestamp']))} UTC`],
      ...(typeof answer['audit_entry_hash'] === 'string' ? [['audit entry', answer['audit_entry_hash']] as const] : []),
    ]);
  printLine(`${number(Number(answer['deleted']))} forgotten.`);
  for (const hash of missing) printLine(`Not found: ${String(hash)}`);
}
