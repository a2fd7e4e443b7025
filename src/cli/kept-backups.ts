// Backups below one folder, a folder each, of which the newest are kept. A folder counts as a backup only with the name and
// the backup.json that this command gave it, which is written last; nothing else is ever removed.
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const NAME = /^granary-\d{8}T\d{6}Z$/;
/** A backup whose removal has begun. */
const REMOVED = /^granary-\d{8}T\d{6}Z\.removed$/;

/** Name of a backup's folder; names sort by time. */
export function backupName(atMs: number): string {
  return `granary-${new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, '')}`;
}

/** Names of whole backups in a folder, oldest first. */
export function backupsIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => NAME.test(name) && isWhole(join(folder, name)))
    .sort();
}

/** Removes the oldest backups beyond `keep`, at least 1, but never `newest`: a clock that was wrong may have named others later. Returns their names. */
export function removeOldest(folder: string, keep: number, newest: string): readonly string[] {
  for (const name of readdirSync(folder))
    if (REMOVED.test(name)) rmSync(join(folder, name), { recursive: true, force: true });
  const others = backupsIn(folder).filter((name) => name !== newest);
  const old = others.slice(0, Math.max(0, others.length - (keep - 1)));
  for (const name of old) {
    // A removal that is cut off must not leave a folder that looks like a backup.
    const removed = join(folder, `${name}.removed`);
    renameSync(join(folder, name), removed);
    rmSync(removed, { recursive: true, force: true });
  }
  return old;
}

function isWhole(path: string): boolean {
  try {
    if (!lstatSync(path).isDirectory()) return false;
    const { takenAtMs, shards } = JSON.parse(readFileSync(join(path, 'backup.json'), 'utf8')) as Record<
      string,
      unknown
    >; // each is checked
    return typeof takenAtMs === 'number' && typeof shards === 'number';
  } catch {
    return false;
  }
}
