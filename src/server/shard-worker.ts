// The entry file of a worker thread: the engines of its shards.
import { Engine } from '../engine/engine.ts';
import { serveShards } from '../shards/transport/worker.ts';
import { CODECS } from './operations/codecs.ts';

export default serveShards({
  openEngine: (options, onBug) => Engine.open({ ...options, onFatal: onBug }),
  codecs: CODECS,
});
