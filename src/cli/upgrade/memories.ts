// The memories of a data directory and their embedders, from a scratch copy of the control log: opening a log writes to it.
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILTIN_INT8_NAME, BUILTIN_NAME } from '../../embed/builtin/builtin.ts';
import { NGRAM_NAME } from '../../embed/ngram.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { keyFolderOf } from '../../engine/keys/key-files.ts';
import { loadMasterKey } from '../../engine/keys/master-key.ts';
import type { Config } from '../../server/config.ts';
import { openControlKey } from '../../server/control/control-key.ts';
import { openControl } from '../../server/control/open.ts';
import { modelBackend } from '../../server/embedding/backends.ts';

export interface MemoryEmbedder {
  readonly number: number;
  readonly id: string;
  /** Name of its embedder's vectors; undefined when only the embedder knows it, or when there are none. */
  readonly embedder: string | undefined;
}

/**
 * Opens the control log with this version, as a start does, and closes it. No server may run. Throws AUT-E003 for another
 * master key, and the errors of a start. The copy holds no key that is not wrapped by the master key.
 */
export async function memoriesOf(config: Config, shards: number): Promise<readonly MemoryEmbedder[]> {
  const { dataDir } = config;
  const scratch = mkdtempSync(join(tmpdir(), 'granary-upgrade-'));
  try {
    for (const folder of ['control', 'keys', 'shard-0']) mkdirSync(join(scratch, folder), { mode: 0o700 });
    for (const name of ['control/data.mdb', 'keys/control.key', 'keys/master.check'])
      if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(scratch, name));
    const buckets = join(dataDir, 'keys', 'control');
    if (existsSync(buckets)) cpSync(buckets, join(scratch, 'keys', 'control'), { recursive: true });
    const { key: master } = loadMasterKey({
      files: keyFolderOf(scratch),
      value: config.masterKey,
      file: config.masterKeyFile ?? (config.masterKey === undefined ? join(dataDir, 'keys', 'master.key') : undefined),
    });
    const control = openControl(
      scratch,
      { key: openControlKey(keyFolderOf(scratch), master, false), master },
      shards,
      systemClock,
    );
    try {
      const isAssigned = control.get('setting', 'models') !== undefined;
      return [...control.values('memory')].map(({ number, id, vectorBackend = '' }) => ({
        number,
        id,
        embedder: vectorBackend === '' && isAssigned ? undefined : nameOf(vectorBackend, config),
      }));
    } finally {
      await control.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Models of an administrator are known by the embedder alone. */
function nameOf(vectorBackend: string, { embedder, embedderModel = '' }: Config): string | undefined {
  const backend = vectorBackend === '' ? (embedder === 'onnx' ? modelBackend(embedderModel) : embedder) : vectorBackend;
  switch (backend) {
    case 'use-lite-int8':
    case 'builtin-int8':
      return BUILTIN_INT8_NAME;
    case 'use-lite':
    case 'builtin':
      return BUILTIN_NAME;
    case 'ngram':
      return NGRAM_NAME;
    default:
      return undefined;
  }
}
