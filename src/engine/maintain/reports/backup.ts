import { copyFileSync, linkSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isFileError, makeFolder, storageError } from '../../base/durable-file.ts';
import type { ShardWideCalls } from '../../calls/shard.ts';
import type { Store } from '../../store/store.ts';
import type { Housekeeper } from '../housekeeping/housekeeper.ts';
import { inSlices } from '../housekeeping/slices.ts';

/**
 * Copies the shard while it serves: the environment as one consistent snapshot, the segment files that its manifest
 * names, its files of vectors, and the keys into a folder of their own. Housekeeping rests meanwhile, so that no named file is
 * replaced. Vectors come before the log: none is of a grain that the snapshot lacks, and what they lack is embedded again.
 * Keys are copied last: a blob in the snapshot then always has its key, unless it was destroyed since.
 */
export async function backup(
  { store, housekeeper }: { readonly store: Store; readonly housekeeper: Housekeeper },
  { dataDirectory, keysDirectory }: ShardWideCalls['backup']['input'],
): Promise<ShardWideCalls['backup']['output']> {
  await housekeeper.pause();
  try {
    makeFolder(join(dataDirectory, 'log'));
    let bytes = 0;
    await inSlices(store.vectors.seal());
    for (const file of [...store.index.files(), ...store.vectors.paths()]) {
      // The folder's name says which rebuild made it, as the log does.
      const folder = join(dataDirectory, basename(dirname(file)));
      makeFolder(folder);
      copyOrLink(file, join(folder, basename(file)));
      bytes += statSync(file).size;
    }
    await store.log.backup(join(dataDirectory, 'log'));
    store.keys.copyTo(keysDirectory);
    return { bytes: bytes + store.log.bytesOnDisk() };
  } catch (error) {
    throw isFileError(error) ? storageError(`the backup into ${dataDirectory} failed`, error) : error;
  } finally {
    housekeeper.resume();
  }
}

/** A segment file never changes once it is named, so a link is as good as a copy where both lie on one file system. */
function copyOrLink(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
