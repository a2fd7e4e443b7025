// The entry file of the thread that seals for a worker.
import { parentPort } from 'node:worker_threads';
import { assert } from '../engine/base/assert.ts';
import { serveSegments } from '../shards/transport/segment-server.ts';

assert(parentPort !== null, 'this file runs in a thread');
serveSegments(parentPort);
