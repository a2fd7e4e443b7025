// The entry file of a worker thread: the engines of its shards. The main thread opens them in the same way when there
// is no worker.
import { fetchAhead, openEngine as open } from '../engine/open.ts';
import type { EngineOptions, FetchShard, OpenEngine } from '../shards/transport/engine-door.ts';
import { SegmentThread } from '../shards/transport/segment-client.ts';
import { serveShards } from '../shards/transport/worker.ts';
import { CODECS } from './operations/codecs.ts';
import { threadEntry } from './thread-entry.ts';

/** Shared by the shards of the thread. */
const beside = SegmentThread.isWorthIt()
  ? new SegmentThread(threadEntry('segment-thread', import.meta.url))
  : undefined;

export const openEngine: OpenEngine = (options, { onBug, isAlone, betweenGroups }) =>
  open({ ...options, onFatal: onBug, isAlone, betweenGroups, sealer: beside, merger: beside });

let isRehearsed = false;

/** The thread warms up beside the first. */
export const fetchShard: FetchShard = async (options) => {
  const fetching = fetchAhead(options);
  const rehearsing = isRehearsed ? undefined : warmUp(options);
  isRehearsed = true;
  // Nothing continues after the answer.
  const [fetched] = await Promise.allSettled([fetching, rehearsing]);
  if (fetched.status === 'rejected') throw fetched.reason;
};

/** Calls are answered without it, only later. */
async function warmUp(options: EngineOptions): Promise<void> {
  const { rehearse } = await import('./rehearsal.ts');
  await rehearse(options);
}

export default serveShards({ openEngine, fetchShard, codecs: CODECS });
