// Opens what a deployment has: the lock of the data directory, its layout, master keys and control log.
import { keyFolderOf } from '../../engine/keys/key-files.ts';
import { loadMasterKey } from '../../engine/keys/master-key.ts';
import { SHARDS_DEFAULT } from '../config.ts';
import { openControl } from '../control/open.ts';
import { openLayout, removeUnfinishedRestore } from '../data-directory.ts';
import { lockDirectory } from '../directory-lock.ts';
import { networkDiskOf } from '../network-disk.ts';
import { refuseNodeDirectory } from '../node-directory.ts';
import { removeServerFile } from '../server-file.ts';
import { type Data, openKeyring } from './keyring.ts';
import type { Starting } from './starting.ts';

/** Takes the directory, unless the caller has, and opens the control log there or in the store. */
export async function openData(starting: Starting): Promise<Data> {
  const { config, deps, lifecycle, warn } = starting;
  const { dataDir, store } = config;
  if (deps.lock === undefined) {
    const lock = lockDirectory(dataDir);
    lifecycle.opened('lock', () => lock.release());
  }
  // A killed server left it: another process may have its port now.
  removeServerFile(dataDir);
  const network = networkDiskOf(dataDir);
  if (network !== undefined) warn(`${dataDir} is on ${network}, which is not supported: move it to a local disk`);
  if (store === undefined) return openDirectory(starting);
  // Loaded only where a store is named.
  const { openStoredData } = await import('./store.ts');
  return openStoredData(starting, store);
}

async function openDirectory(starting: Starting): Promise<Data> {
  const { config, clock, lifecycle, warn } = starting;
  const { dataDir, masterKey, masterKeyFile } = config;
  refuseNodeDirectory(dataDir);
  removeUnfinishedRestore(dataDir);
  const layout = openLayout(dataDir, config.shards, SHARDS_DEFAULT);
  const keyFiles = keyFolderOf(dataDir);
  const loaded = loadMasterKey({ files: keyFiles, value: masterKey, file: masterKeyFile, warn });
  const ownFile = masterKey === undefined && masterKeyFile === undefined;
  const keyring = await openKeyring(starting, { keyFiles, loaded, ownFile, isNew: layout.isNew });
  const keys = { key: keyring.controlKey, master: keyring.masterKeys.current };
  const control = openControl(dataDir, keys, layout.shards, clock);
  lifecycle.opened('control log', () => control.close(lifecycle.drainMs));
  return { layout, control, ...keyring };
}
