// `granary restore DIR --dry-run`: restores a backup into a scratch folder, checks everything in it, and removes it.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removedUnlessDone } from '../../server/removed-when-ended.ts';
import { execOnDeployment } from '../deployment.ts';
import { Failure } from '../failure.ts';
import { type StageOptions, stage } from './restore.ts';

export interface Rehearsal {
  readonly shards: number;
  readonly grains: number;
  /** Problems that a check of the restored deployment found. */
  readonly findings: number;
}

export interface RehearsalOptions {
  /** The deployment whose master key opens the backup's keys, if the backup has none. Its files are only read. */
  readonly dataDir: string;
  readonly keys?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Needs as much room in the system's folder for temporary files as the backup has. Rejects with Failure or EngineError. */
export async function rehearse(directory: string, { dataDir, keys, env }: RehearsalOptions): Promise<Rehearsal> {
  if (!existsSync(join(directory, 'backup.json')))
    throw new Failure('FILE', `${directory} has no backup.json: it is not a backup, or the backup was not completed`);
  const scratch = mkdtempSync(join(tmpdir(), 'granary-restore-'));
  const found = await removedUnlessDone(scratch, () =>
    rehearseIn(scratch, directory, { masterFrom: dataDir, keys, env }),
  );
  rmSync(scratch, { recursive: true, force: true });
  return found;
}

async function rehearseIn(
  scratch: string,
  directory: string,
  from: Pick<StageOptions, 'masterFrom' | 'keys' | 'env'>,
): Promise<Rehearsal> {
  let found: Rehearsal | undefined;
  await stage(directory, {
    ...from,
    dataDir: scratch,
    look: async (connection) => {
      const report = await execOnDeployment(connection, 'verify');
      found = {
        shards: Number(report['shards']),
        grains: Number(report['grains']),
        findings: Number(report['finding_count']),
      };
    },
  });
  if (found === undefined)
    throw new Failure('FILE', `${directory} could not be checked: the server on the restored copy did not answer`);
  return found;
}
