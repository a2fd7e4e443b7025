// Opens the engine of a shard, in a worker thread or in the thread of requests.
import { Engine } from '../engine/engine.ts';
import type { OpenEngine } from '../shards/transport/engine-door.ts';

export const openEngine: OpenEngine = (options, { onBug, isAlone }) =>
  Engine.open({ ...options, onFatal: onBug, isAlone });
