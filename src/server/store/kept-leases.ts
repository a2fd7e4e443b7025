// Starts the thread that renews the leases of a server's shards, and starts it again if it ends.
import { Worker } from 'node:worker_threads';
import { DATABASE_CLOSING_MS, LEASE_THREAD_RETRY_MS } from '../../engine/base/limits.ts';
import { isSettledWithin } from '../../engine/base/settled-within.ts';
import type { Logger } from '../log.ts';
import { threadEntry } from '../thread-entry.ts';

export interface KeptLeases {
  readonly url: string;
  readonly node: string;
  readonly leaseMs: number;
  /** The table of leases (lease-table.ts). */
  readonly leases: SharedArrayBuffer;
}

/** Returns the function that ends it. */
export function keepLeases(kept: KeptLeases, log: Pick<Logger, 'error'>): () => Promise<void> {
  let thread: Worker;
  let ended: Promise<void>;
  let isOver = false;
  let again: NodeJS.Timeout | undefined;
  const start = (): void => {
    thread = new Worker(threadEntry('lease-thread', import.meta.url), { name: 'leases', workerData: kept });
    thread.on('error', (err) => log.error({ err }, 'the thread that renews leases ended: starting it again'));
    ended = new Promise((resolve) => {
      thread.once('exit', () => {
        if (!isOver) again = setTimeout(start, LEASE_THREAD_RETRY_MS);
        resolve();
      });
    });
  };
  start();
  return async () => {
    isOver = true;
    clearTimeout(again);
    thread.postMessage('end');
    if (!(await isSettledWithin(ended, DATABASE_CLOSING_MS))) await thread.terminate();
  };
}
