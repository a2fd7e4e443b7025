// Runs the checks of `granary doctor` and prints their findings.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../../engine/base/clock.ts';
import { type Config, readConfig } from '../../server/config.ts';
import { EXIT } from '../exit-codes.ts';
import { failureOf } from '../failure.ts';
import { backupsIn } from '../kept-backups.ts';
import { counted, printable, printJson, printLine } from '../output.ts';
import { rehearse } from '../restore/rehearsal.ts';
import { checksOf } from './checks.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

export interface DoctorOptions {
  readonly backup?: string | undefined;
  readonly json?: true | undefined;
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Sets exit code 1 when a finding fails. Rejects with VAL-E001 for options that no server would take. */
export async function doctor({ backup, json, flags, env }: DoctorOptions): Promise<void> {
  const config = readConfig(flags, env);
  const findings = [
    ...(await checksOf(config, systemClock.nowMs())),
    await backupFinding(backup, { dataDir: config.dataDir, env: { ...env, ...masterKeyFileOf(config) } }),
  ];
  const count = (state: Finding['state']): number => findings.filter((one) => one.state === state).length;
  if (count('fail') > 0) process.exitCode = EXIT.failed;
  if (json) return printJson({ findings, fail: count('fail'), warn: count('warn') });
  for (const { state, check, message, action } of findings) {
    printLine(`${state.padEnd(4)}  ${check}: ${printable(message)}`);
    if (action !== '') printLine(`      ${printable(action)}`);
  }
  printLine(`${counted(count('fail'), 'problem')} to fix, ${counted(count('warn'), 'warning')}.`);
}

/** A server opened for a command reads only variables. */
function masterKeyFileOf({ masterKeyFile }: Config): Readonly<Record<string, string>> {
  return masterKeyFile === undefined ? {} : { GRANARY_MASTER_KEY_FILE: masterKeyFile };
}

type Place = { readonly dataDir: string; readonly env: DoctorOptions['env'] };

/** Restores the backup in a folder, or the newest of several below it, beside the deployment. */
async function backupFinding(folder: string | undefined, place: Place): Promise<Finding> {
  const check = 'backup';
  if (folder === undefined)
    return warn(check, 'No backup was checked', 'Give --backup DIR to see whether a backup can be restored.');
  const path = resolve(folder);
  if (!existsSync(path)) return fail(check, `${path} does not exist`, 'Make a backup: granary backup DIR.');
  const newest = existsSync(join(path, 'backup.json')) ? path : backupsIn(path).at(-1);
  if (newest === undefined) return fail(check, `${path} holds no backup`, 'Make one: granary backup --to DIR.');
  try {
    const { grains, findings } = await rehearse(resolve(path, newest), place);
    if (findings === 0) return ok(check, `${newest} can be restored: ${counted(grains, 'grain')}, no problem found.`);
    const action = 'Make a new backup, and run granary verify on the server.';
    return fail(check, `${newest} can be restored, with ${counted(findings, 'problem')} in it`, action);
  } catch (error) {
    const { code, text } = failureOf(error);
    const action = 'Make a new backup. If its master key is kept elsewhere, give --master-key-file.';
    return fail(check, `${newest} cannot be restored: ${code}: ${text}`, action);
  }
}
