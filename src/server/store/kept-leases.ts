// Starts the thread that renews the leases of a server's shards, and starts it again if it ends.
import { Worker } from 'node:worker_threads';
import { DATABASE_CLOSING_MS, LEASE_THREAD_RETRY_MS, LEASE_THREAD_RETRY_MS_MAX } from '../../engine/base/limits.ts';
import { isSettledWithin } from '../../engine/base/settled-within.ts';
import type { ShardSetLog } from '../../shards/transport/shard-set.ts';
import { threadEntry } from '../thread-entry.ts';

export interface KeptLeases {
  readonly url: string;
  readonly node: string;
  readonly leaseMs: number;
  /** The table of leases (lease-table.ts). */
  readonly leases: SharedArrayBuffer;
}

/** Runs its first argument after so many milliseconds. Returns the function that cancels it. */
type Delay = (run: () => void, ms: number) => () => void;

/** Returns the function that ends it. `delay` is for tests. */
export function keepLeases(kept: KeptLeases, log: ShardSetLog, delay: Delay = byTimer): () => Promise<void> {
  let thread: Worker;
  let ended: Promise<void>;
  let isOver = false;
  let cancel = (): void => undefined;
  /** Threads that ended one after the other, none of which had renewed leases for a while. */
  let failures = 0;
  const start = (): void => {
    let err: Error | undefined;
    thread = new Worker(threadEntry('lease-thread', import.meta.url), { name: 'leases', workerData: kept });
    thread.on('error', (error) => {
      err = error;
    });
    thread.on('message', () => {
      if (failures > 0) log.info({ failures }, 'the thread that renews leases is running again');
      failures = 0;
    });
    ended = new Promise((resolve) => {
      thread.once('exit', (code) => {
        resolve();
        if (isOver) return;
        if (failures === 0) log.error({ err, code }, 'the thread that renews leases ended and is being restarted');
        cancel = delay(start, Math.min(LEASE_THREAD_RETRY_MS * 2 ** failures, LEASE_THREAD_RETRY_MS_MAX));
        failures += 1;
      });
    });
  };
  start();
  return async () => {
    isOver = true;
    cancel();
    thread.postMessage('end');
    if (!(await isSettledWithin(ended, DATABASE_CLOSING_MS))) await thread.terminate();
  };
}

function byTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
