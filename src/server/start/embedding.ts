// Starts the embedders, the followers that embed new grains, and the reads that wait for them.
import type { Router } from '../../shards/router.ts';
import type { MemoryRecord } from '../control/memories.ts';
import { leavingForVectors, outsideBackends } from '../embedding/egress.ts';
import { Embedders } from '../embedding/embedders.ts';
import { Followers } from '../embedding/followers.ts';
import { IndexWaits } from '../embedding/index-waits.ts';
import { openersOf } from '../embedding/openers.ts';
import { QueryVectors } from '../embedding/query-vector.ts';
import { shardBacklog } from '../embedding/shard-backlog.ts';
import type { Placed } from './shards.ts';
import type { Starting } from './starting.ts';

export interface Embedding {
  readonly embedders: Embedders;
  readonly followers: Followers;
  readonly indexWaits: IndexWaits;
  readonly queryVectors: QueryVectors;
}

export function startEmbedding(starting: Starting, placed: Placed, shards: number): Embedding {
  const { config, deps, log, lifecycle } = starting;
  const { router } = placed;
  const embedders = new Embedders(config.embedder, deps.openers ?? openersOf(config, log), { log });
  lifecycle.opened('embedders', () => embedders.close());
  const indexWaits = new IndexWaits({
    lagOf: (memory, upTo) => router.call('vectorLag', asSystem(memory), upTo === undefined ? {} : { upTo }),
    isFollowed: (memory) => isFollowed(starting, embedders, memory),
    wake: () => followers.wake(),
  });
  const followers = followersOf(starting, placed, { embedders, indexWaits, shards });
  lifecycle.opened('embedding', () => followers.close());
  followers.start();
  const queryVectors = new QueryVectors({
    embedders,
    stateOf: (memory) => router.call('vectorState', asSystem(memory), {}),
    leaving: (memory) => leavingForVectors(memory, config),
  });
  return { embedders, followers, indexWaits, queryVectors };
}

function followersOf(
  { config, log }: Starting,
  { router, memories }: Placed,
  { embedders, indexWaits, shards }: Pick<Embedding, 'embedders' | 'indexWaits'> & { readonly shards: number },
): Followers {
  return new Followers({
    backlogs: Array.from({ length: shards }, (_, shard) => shardBacklog(router, shard, outsideBackends(config))),
    embedders,
    isChosen: (backend) => memories.hasBackend(backend),
    mayLeave: (number) => {
      const memory = memories.byNumber(number);
      return memory !== undefined && leavingForVectors(memory, config) !== undefined;
    },
    log,
    progressed: () => indexWaits.progressed(),
  });
}

/** True if the memory's new grains are being embedded. */
function isFollowed({ config }: Starting, embedders: Embedders, memory: MemoryRecord): boolean {
  const chosen = memory.vectorBackend ?? '';
  const backend = embedders.nameOf(chosen);
  if (backend === 'none' || embedders.status(chosen).state === 'failed') return false;
  return backend !== 'remote' || leavingForVectors(memory, config) !== undefined;
}

type CallerContext = Parameters<Router['call']>[1];

function asSystem(memory: number): CallerContext {
  return { memory, actor: 'system', requestId: 'system' };
}
