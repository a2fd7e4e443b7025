// Campaigns on engines in a child process: many rounds in little time, and cuts at single steps.
import { join } from 'node:path';
import { MasterKey } from '../../src/engine/keys/master-key.ts';
import type { Target } from './campaign.ts';
import { armLife, startEngines } from './engine-life.ts';
import { lostProofs } from './proofs.ts';

const SHARDS = 2;
const MASTER_KEY = '07'.repeat(32);

export const engineTarget: Target = {
  start: (directory, { cut }, random) =>
    startEngines({
      directory,
      shards: SHARDS,
      masterKey: MASTER_KEY,
      sealGrains: random.between(8, 64),
      ...(cut === undefined ? {} : { cut }),
    }),
  arm: armLife,
  after: async (directory, model) =>
    lostProofs(join(directory, 'keys'), SHARDS, MasterKey.of(Buffer.from(MASTER_KEY, 'hex')), model),
};
