// Campaigns on the whole server: fewer rounds in the same time, and everything between a socket and the disk.
import { join } from 'node:path';
import { keyFolderOf } from '../../src/engine/keys/key-files.ts';
import { loadMasterKey } from '../../src/engine/keys/master-key.ts';
import type { Target } from './campaign.ts';
import { lostProofs } from './proofs.ts';
import { startServer } from './server-life.ts';

const SHARDS = 2;

export const serverTarget: Target = {
  start: (directory, { cut }) => startServer({ directory, shards: SHARDS, ...(cut === undefined ? {} : { cut }) }),
  // The server's threads count their steps from the start.
  arm: () => undefined,
  after: async (directory, knowledge) => {
    const { key } = loadMasterKey({
      files: keyFolderOf(directory),
      value: undefined,
      file: undefined,
      warn: () => undefined,
    });
    return lostProofs(join(directory, 'keys'), SHARDS, key, knowledge);
  },
};
