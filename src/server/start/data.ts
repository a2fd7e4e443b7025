// Opens a data directory: its lock, layout, master keys and control log.
import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { loadMasterKey } from '../../engine/keys/master-key.ts';
import { SHARDS_DEFAULT } from '../config.ts';
import { openControlKey } from '../control/control-key.ts';
import { openControl } from '../control/open.ts';
import type { ControlStore } from '../control/store.ts';
import { type Layout, openLayout } from '../data-directory.ts';
import { lockDirectory } from '../directory-lock.ts';
import { MasterKeys } from '../master-keys.ts';
import { networkDiskOf } from '../network-disk.ts';
import { ProofKeys } from '../proofs/proof-keys.ts';
import { removeServerFile } from '../server-file.ts';
import type { Starting } from './starting.ts';

export interface DataDirectory {
  readonly layout: Layout;
  readonly masterKeys: MasterKeys;
  readonly controlKey: KeyObject;
  readonly proofKeys: ProofKeys;
}

/** Takes the directory, unless the caller has, and reads what its shards and its control log need. */
export function openDataDirectory({ config, deps, clock, lifecycle, warn }: Starting): DataDirectory {
  const { dataDir } = config;
  if (deps.lock === undefined) {
    const lock = lockDirectory(dataDir);
    lifecycle.opened('lock', () => lock.release());
  }
  // A killed server left it: another process may have its port now.
  removeServerFile(dataDir);
  const network = networkDiskOf(dataDir);
  if (network !== undefined) warn(`${dataDir} is on ${network}, which is not supported: move it to a local disk`);
  const layout = openLayout(dataDir, config.shards, SHARDS_DEFAULT);
  const loaded = loadMasterKey({
    dataDirectory: dataDir,
    value: config.masterKey,
    file: config.masterKeyFile,
    warn,
  });
  const ownFile = config.masterKey === undefined && config.masterKeyFile === undefined;
  const masterKeys = new MasterKeys({ dataDirectory: dataDir, loaded, ownFile, warn });
  const controlKey = openControlKey(dataDir, masterKeys.current, layout.isNew);
  const proofKeys = new ProofKeys({ directory: join(dataDir, 'keys'), master: () => masterKeys.current, clock });
  proofKeys.open();
  return { layout, masterKeys, controlKey, proofKeys };
}

export function openControlLog({ config, clock, lifecycle }: Starting, directory: DataDirectory): ControlStore {
  const keys = { key: directory.controlKey, master: directory.masterKeys.current };
  const control = openControl(config.dataDir, keys, directory.layout.shards, clock);
  lifecycle.opened('control log', () => control.close());
  return control;
}
