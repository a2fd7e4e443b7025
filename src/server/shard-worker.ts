// The entry file of a worker thread: the engines of its shards.
import { serveShards } from '../shards/transport/worker.ts';
import { openEngine } from './open-engine.ts';
import { CODECS } from './operations/codecs.ts';

export default serveShards({ openEngine, codecs: CODECS });
