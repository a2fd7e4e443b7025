// The entry file of a worker thread: the engines of its shards. The main thread opens them in the same way when there
// is no worker.
import { Engine } from '../engine/engine.ts';
import type { OpenEngine } from '../shards/transport/engine-door.ts';
import { serveShards } from '../shards/transport/worker.ts';
import { CODECS } from './operations/codecs.ts';

export const openEngine: OpenEngine = (options, { onBug, isAlone, betweenGroups }) =>
  Engine.open({ ...options, onFatal: onBug, isAlone, betweenGroups });

export default serveShards({ openEngine, codecs: CODECS });
