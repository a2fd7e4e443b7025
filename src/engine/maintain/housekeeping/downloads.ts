// Fetches what a node lacks of a shard's segments and vectors from its database, before they are opened. Files that cannot
// be fetched are built again.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { makeFolder, TEMPORARY_SUFFIX } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import { decodeManifest, fileName, MANIFEST_KEY } from '../../index/files/manifest.ts';
import type { Log } from '../../log/log.ts';
import type { StoredFile, StoredFiles } from '../../log/postgres/stored-files.ts';
import type { Store } from '../../store/store.ts';
import { Uploads } from '../../store/uploads.ts';
import { liveSegmentsDirectory } from './segments-directory.ts';

export const VECTORS_FOLDER = 'vectors';

export interface Fetched {
  readonly files: StoredFiles;
  /** Names of the files that the database has, and that are here now. */
  readonly names: readonly string[];
  /** Files that are built again, each with the reason. */
  readonly problems: readonly string[];
}

/** `directory`: the shard's own. Rejects with STO-E001 when the database or the disk fails. */
export async function fetchMissing(files: StoredFiles, log: Log, directory: string): Promise<Fetched> {
  const segments = basename(liveSegmentsDirectory(directory, log));
  removeUnfinished(join(directory, segments));
  const named = namedFiles(log, segments);
  const stored = await files.list();
  const names: string[] = [];
  const problems: string[] = [];
  for (const file of stored) {
    if (!named.has(file.name) && !file.name.startsWith(`${VECTORS_FOLDER}/`)) continue;
    const problem = await fetchOne(files, file, join(directory, file.name));
    if (problem === undefined) names.push(file.name);
    else problems.push(`rebuilt, because the copy in the database is incomplete or damaged: ${problem}`);
  }
  // Numbers of files are given again after a damaged manifest, and a damaged file must not pass for uploaded.
  if (names.length < stored.length) await files.keep(new Set(names));
  return { files, names, problems };
}

async function fetchOne(files: StoredFiles, file: StoredFile, path: string): Promise<string | undefined> {
  if (existsSync(path)) return undefined;
  makeFolder(dirname(path));
  return files.fetch(file, path);
}

/** Names of the segments and files of vectors in force in a shard's folder, whose server does not run. */
export function derivedFilesOf(directory: string, log: Log): readonly string[] {
  const vectors = join(directory, VECTORS_FOLDER);
  const names = existsSync(vectors) ? readdirSync(vectors).filter((name) => name.endsWith('.vec')) : [];
  const segments = namedFiles(log, basename(liveSegmentsDirectory(directory, log)));
  return [...segments, ...names.map((name) => `${VECTORS_FOLDER}/${name}`)];
}

/** The segments in force. A damaged manifest names none: everything is built again. */
function namedFiles(log: Log, folder: string): ReadonlySet<string> {
  try {
    const manifest = log.getState(MANIFEST_KEY);
    const files = manifest === undefined ? [] : decodeManifest(manifest).files;
    return new Set(files.map(({ id }) => `${folder}/${fileName(id)}`));
  } catch (error) {
    if (error instanceof EngineError) return new Set();
    throw error;
  }
}

/** For a shard that was opened after `fetched`. */
export function uploadsOf(store: Store, directory: string, { files, names, problems }: Fetched): Uploads {
  const nameOf = (path: string): string => relative(directory, path).replaceAll(sep, '/');
  return new Uploads({
    files,
    stored: names,
    damage: problems,
    live: () => new Map([...store.index.files(), ...store.vectors.paths()].map((path) => [nameOf(path), path])),
    nameOf,
    counters: store.counters,
    isOwner: () => store.log.lapsed === undefined && store.log.poisoned === undefined,
  });
}

function removeUnfinished(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder))
    if (name.endsWith(TEMPORARY_SUFFIX)) rmSync(join(folder, name), { force: true });
}
