// A deployment's open keys and control log.
import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../engine/base/clock.ts';
import type { KeyFiles } from '../../engine/keys/key-files.ts';
import { type LoadedMasterKey, noteMasterKey } from '../../engine/keys/master-key.ts';
import type { DatabaseOptions } from '../../engine/log/postgres/postgres-log.ts';
import type { ShardSet } from '../../shards/transport/shard-set.ts';
import { checkControlKey, openControlKey } from '../control/control-key.ts';
import type { ControlStore } from '../control/store.ts';
import type { Layout } from '../data-directory.ts';
import { MasterKeys } from '../master-keys.ts';
import { ProofKeys } from '../proofs/proof-keys.ts';

export interface Keyring {
  readonly keyFiles: KeyFiles;
  readonly masterKeys: MasterKeys;
  readonly controlKey: KeyObject;
  readonly proofKeys: ProofKeys;
}

export interface Data extends Keyring {
  readonly layout: Layout;
  readonly control: ControlStore;
  /** Where the logs and their keys lie, if not in the data directory. */
  readonly stored?: StoredShards | undefined;
}

/** Shards whose logs are in a database. */
export interface StoredShards {
  readonly database: DatabaseOptions;
  /** Why the shard may not answer at the moment; undefined while it may. */
  readonly lapsed: (shard: number) => string | undefined;
  /** The thread of the shard has ended. */
  readonly ended: (shard: number) => void;
  /** Opens shards again whose logs take nothing any more. Calls of the set that it returns wait meanwhile. */
  readonly serve: (shards: ShardSet) => { readonly set: ShardSet; readonly stop: () => void };
}

/** Opens the keys of the deployment, which are durable when it resolves. */
export async function openKeyring(
  { clock, warn }: { readonly clock: Clock; readonly warn: (text: string) => void },
  {
    keyFiles,
    loaded,
    ownFile,
    isNew,
  }: {
    readonly keyFiles: KeyFiles;
    readonly loaded: LoadedMasterKey;
    /** The key file `master.key` holds the master key. */
    readonly ownFile: boolean;
    /** The deployment has no data yet. */
    readonly isNew: boolean;
  },
): Promise<Keyring> {
  if (loaded.isUnchecked === true) {
    if (!isNew) checkControlKey(keyFiles, loaded.key);
    noteMasterKey(keyFiles, loaded.key);
  }
  const masterKeys = new MasterKeys({ files: keyFiles, loaded, ownFile, warn });
  const controlKey = openControlKey(keyFiles, masterKeys.current, isNew);
  const proofKeys = new ProofKeys({ files: keyFiles, master: () => masterKeys.current, clock });
  proofKeys.open();
  await keyFiles.flush();
  return { keyFiles, masterKeys, controlKey, proofKeys };
}
