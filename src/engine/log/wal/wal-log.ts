// Opens a log whose journal is the write-ahead files of its worker.
import { JournaledLog } from '../journaled-log.ts';
import { type LmdbLog, type LmdbLogOptions, openLmdbLog } from '../lmdb/lmdb-log.ts';
import type { Log } from '../log.ts';
import { WriteAhead, type WriteAheadOptions } from './write-ahead.ts';

export interface WalLogOptions extends LmdbLogOptions {
  readonly writeAhead: WriteAheadOptions;
  /** True while the thread has nothing to do but a single write, for whose sync it may wait. */
  readonly isAlone?: (() => boolean) | undefined;
}

/**
 * Opens the log in `directory`, or creates it, with what a crash left of it in the write-ahead files. Throws STO-E001 as
 * `openLmdbLog` does, and when acknowledged appends are missing.
 */
export function openWalLog(directory: string, options: WalLogOptions): Log {
  const { shard } = options.stamp;
  const files = WriteAhead.of(options.writeAhead);
  if (options.isAlone !== undefined) files.aloneWhen = options.isAlone;
  let store: LmdbLog | undefined;
  try {
    store = openLmdbLog(directory, options);
    return new JournaledLog(store, files, files.recovered(shard, store.appends));
  } catch (error) {
    // No write is under way, so closing need not be awaited.
    void store?.close();
    files.closeUnused();
    throw error;
  }
}
