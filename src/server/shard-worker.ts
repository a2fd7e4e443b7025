// The entry file of a worker thread: the engines of its shards. The main thread opens them in the same way when there
// is no worker.
import { Engine } from '../engine/engine.ts';
import type { FetchShard, OpenEngine } from '../shards/transport/engine-door.ts';
import { SealThread } from '../shards/transport/seal-client.ts';
import { serveShards } from '../shards/transport/worker.ts';
import { CODECS } from './operations/codecs.ts';
import { threadEntry } from './thread-entry.ts';

/** Shared by the shards of the thread. */
const sealer = SealThread.isWorthIt() ? new SealThread(threadEntry('seal-thread', import.meta.url)) : undefined;

export const openEngine: OpenEngine = (options, { onBug, isAlone, betweenGroups }) =>
  Engine.open({ ...options, onFatal: onBug, isAlone, betweenGroups, sealer });

export const fetchShard: FetchShard = (options) => Engine.fetchAhead(options);

export default serveShards({ openEngine, fetchShard, codecs: CODECS });
