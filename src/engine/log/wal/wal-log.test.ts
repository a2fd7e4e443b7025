import { logConformance } from '../log.conformance.ts';
import { takeOwnership } from './owner.ts';
import { openWalLog } from './wal-log.ts';

const stamp = { formatVersion: 1, shard: 0, shards: 8 };

logConformance('write-ahead', {
  open: (path) => {
    const directory = `${path}-wal`;
    return openWalLog(path, {
      stamp,
      writeAhead: { directory, workers: 2, worker: 0, mark: takeOwnership(directory) },
    });
  },
});
