// The entry file of the thread that seals for a worker.
import { parentPort } from 'node:worker_threads';
import { assert } from '../engine/base/assert.ts';
import { serveSeals } from '../shards/transport/seal-server.ts';

assert(parentPort !== null, 'this file runs in a thread');
serveSeals(parentPort);
