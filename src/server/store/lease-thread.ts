// The thread that renews the leases of a server's shards, until it gets a message. It sends one when it has done so once.
import { parentPort, workerData } from 'node:worker_threads';
import { Database } from '../../engine/log/postgres/database.ts';
import { LeaseKeeper } from '../../engine/log/postgres/lease-keeper.ts';
import { LeaseTable } from '../../engine/log/postgres/lease-table.ts';
import type { KeptLeases } from './kept-leases.ts';

const { url, node, leaseMs, leases } = workerData as KeptLeases; // of keepLeases
const database = await Database.open(url);
const keeper = new LeaseKeeper({ database, table: new LeaseTable(leases), node, leaseMs });
// The keeper's first round has run by then.
const first = setTimeout(() => parentPort?.postMessage('at work'), leaseMs / 3);
parentPort?.once('message', () => {
  clearTimeout(first);
  keeper.stop();
  void database.close();
});
