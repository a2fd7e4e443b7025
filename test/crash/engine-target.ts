// Campaigns on engines in a child process: many rounds in little time, and cuts at single steps.
import { join } from 'node:path';
import { MasterKey } from '../../src/engine/keys/master-key.ts';
import { serverThread } from '../support/program.ts';
import type { Target } from './campaign.ts';
import { armLife, startEngines } from './engine-life.ts';
import { lostProofs } from './proofs.ts';

const MASTER_KEY = '07'.repeat(32);

function target(shards: number, partitions: number): Target {
  return {
    partitions,
    start: (directory, { cut }, random) =>
      startEngines(
        {
          directory,
          shards,
          masterKey: MASTER_KEY,
          sealGrains: random.between(8, 64),
          // A thread takes longer to start than most of the lives last.
          segmentThread: random.between(0, 3) === 0 ? serverThread('segment-thread') : undefined,
          ...(cut === undefined ? {} : { cut }),
        },
        partitions,
      ),
    arm: armLife,
    after: async (directory, knowledge) =>
      // The proof over several partitions is a fingerprint of all their proofs.
      partitions > 1
        ? []
        : lostProofs(join(directory, 'keys'), shards, MasterKey.of(Buffer.from(MASTER_KEY, 'hex')), knowledge),
  };
}

export const engineTarget = target(2, 1);
/** Every memory over four shards, so that an act on it is several transactions. */
export const partitionTarget = target(4, 4);
