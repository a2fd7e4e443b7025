import { copyFileSync, linkSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isFileError, makeFolder, storageError, syncDirectory } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import type { ShardWideCalls } from '../../calls/shard.ts';
import type { Store } from '../../store/store.ts';
import type { Housekeeper } from '../housekeeping/housekeeper.ts';
import { inSlices } from '../housekeeping/slices.ts';

/**
 * Copies the shard while it serves: the environment as one consistent snapshot, the segment files in its manifest, its
 * vector files, and the keys into a folder of their own. Housekeeping pauses meanwhile, so that no file is replaced. Seals
 * go on and add files, so segments are copied after the log: none is missing that the snapshot names, and opening the copy
 * deletes those that it does not name. Vectors are copied before the log: none then belongs to a grain that the snapshot
 * lacks, and missing ones are made again. Keys are copied last: every blob in the snapshot then has its key, unless it was
 * destroyed since.
 */
export async function backup(
  { store, housekeeper }: { readonly store: Store; readonly housekeeper: Housekeeper },
  { dataDirectory, keysDirectory }: ShardWideCalls['backup']['input'],
): Promise<ShardWideCalls['backup']['output']> {
  await housekeeper.pause();
  try {
    makeFolder(join(dataDirectory, 'log'));
    let bytes = 0;
    await sealVectors(store);
    const copyFiles = (files: readonly string[]): void => {
      for (const file of files) {
        // The folder's name identifies the rebuild that made it, as the log does.
        const folder = join(dataDirectory, basename(dirname(file)));
        makeFolder(folder);
        copyOrLink(file, join(folder, basename(file)));
        bytes += statSync(file).size;
      }
    };
    copyFiles(store.vectors.paths());
    await store.log.backup(join(dataDirectory, 'log'));
    copyFiles(store.index.files());
    store.keys.copyTo(keysDirectory);
    syncDirectory(dataDirectory);
    return { bytes: bytes + store.log.bytesOnDisk() };
  } catch (error) {
    throw isFileError(error) ? storageError(`the backup into ${dataDirectory} failed`, error) : error;
  } finally {
    housekeeper.resume();
  }
}

/** Those in no file are made again, so a full disk here does not prevent a backup elsewhere. */
async function sealVectors({ vectors }: Store): Promise<void> {
  try {
    await inSlices(vectors.seal());
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}

/** A segment file never changes once the manifest lists it, so on one file system a link is as good as a copy. */
function copyOrLink(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
