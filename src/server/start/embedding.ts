// Opens the embedders, the followers that embed new grains once they are started, and the reads that wait for them.
import { defined } from '../../engine/base/defined.ts';
import type { Router } from '../../shards/router.ts';
import type { ShardSet } from '../../shards/transport/shard-set.ts';
import type { MemoryRecord } from '../control/memories.ts';
import type { ControlReader } from '../control/reading.ts';
import { KEYS_ENDED } from '../control/records.ts';
import { VECTOR_BACKENDS } from '../embedding/backends.ts';
import {
  departureForVectors,
  type Outside,
  outsideBackends,
  sendsForVectors,
  type VectorsSetup,
} from '../embedding/egress.ts';
import { Embedders, type Openers } from '../embedding/embedders.ts';
import { Followers } from '../embedding/followers.ts';
import { IndexWaits } from '../embedding/index-waits.ts';
import { openEarlierOf, openersOf, ownBackend, vectorModelOf } from '../embedding/openers.ts';
import { QueryVectors } from '../embedding/query-vector.ts';
import { shardBacklog } from '../embedding/shard-backlog.ts';
import { SpareCores } from '../embedding/spare-cores.ts';
import { WindowCache } from '../embedding/window-cache.ts';
import { destinationOf } from '../models/egress.ts';
import type { Assignment } from '../models/roles.ts';
import type { ModelParts } from './models.ts';
import type { Placed } from './shards.ts';
import type { Starting } from './starting.ts';

export interface Embedding {
  readonly embedders: Embedders;
  readonly followers: Followers;
  readonly indexWaits: IndexWaits;
  readonly queryVectors: QueryVectors;
  readonly vectorsSetup: () => VectorsSetup;
  /** Opens the embedders that memories have chosen, before the first question needs them. */
  readonly open: () => void;
}

export function startEmbedding(
  starting: Starting,
  placed: Placed & { readonly pool: Pick<ShardSet, 'loads'> },
  {
    shards,
    ...models
  }: Pick<ModelParts, 'providers' | 'outgoing' | 'hasGrants' | 'localModels'> & {
    readonly shards: number;
  },
): Embedding {
  const { config, deps, log, lifecycle } = starting;
  const { router } = placed;
  const { providers, localModels } = models;
  localModels.checkOwn();
  const own = () => ownBackend(providers, config, localModels);
  const spare = new SpareCores({ loads: () => placed.pool.loads(), isAwaited: () => indexWaits.isWaiting });
  const openers = (): Openers => deps.openers?.(spare) ?? openersOf(config, log, { ...models, spare });
  const embedders = new Embedders(own(), openers(), {
    log,
    openEarlier: openEarlierOf(models),
  });
  lifecycle.opened('embedders', () => embedders.close());
  const setup = (): VectorsSetup => {
    const model = vectorModelOf(providers);
    return { own: own(), destination: model && destinationOf(model.provider) };
  };
  const indexWaits = new IndexWaits({
    lagOf: (memory, upTo) => router.call('vectorLag', asSystem(memory), defined({ upTo })),
    isFollowed: (memory) => isFollowed(setup(), embedders, memory),
    wake: () => followers.wake(),
  });
  const followers = followersOf(starting, placed, { embedders, indexWaits, shards, setup });
  lifecycle.opened('embedding', () => followers.close());
  placed.memories.watchBackends(() => followers.follow());
  const queryVectors = new QueryVectors({
    embedders,
    stateOf: (memory) => router.call('vectorState', asSystem(memory), {}),
    departure: (memory, destination) => departureForVectors(memory, { ...setup(), destination }),
    hasGrants: models.hasGrants,
  });
  let before = vectorModelOf(providers);
  providers.watch(() => {
    const now = vectorModelOf(providers);
    const isSame = now?.provider === before?.provider && isSameModel(now?.assigned, before?.assigned);
    before = now;
    embedders.reconfigure(own(), openers(), isSame ? undefined : 'remote');
    followers.follow();
    followers.wake();
  });
  const open = (): void => {
    for (const backend of [...VECTOR_BACKENDS, ...placed.memories.modelBackends(), ''])
      if (placed.memories.hasBackend(backend)) embedders.of(backend);
  };
  return { embedders, followers, indexWaits, queryVectors, vectorsSetup: setup, open };
}

/** Drops vectors of questions when another node has ended keys, whose words they may have. */
export function forgetWithKeys(
  control: Pick<ControlReader, 'watch'>,
  embedders: Pick<Embedders, 'forgetQueries'>,
): void {
  control.watch('setting', (name) => {
    if (name === KEYS_ENDED) embedders.forgetQueries();
  });
  control.watch('memory', (_, value) => {
    if (value === undefined) embedders.forgetQueries();
  });
}

function isSameModel(one: Assignment | undefined, other: Assignment | undefined): boolean {
  return one?.model === other?.model && one?.dimensions === other?.dimensions;
}

function followersOf(
  { log, lifecycle }: Starting,
  { router, memories }: Placed,
  {
    embedders,
    indexWaits,
    shards,
    setup,
  }: Pick<Embedding, 'embedders' | 'indexWaits'> & { readonly shards: number; readonly setup: () => VectorsSetup },
): Followers {
  const outside = (): Outside => outsideBackends(setup());
  const windows = new WindowCache();
  lifecycle.opened('known windows', () => windows.close());
  router.watchRemovals((memory, { endsKeys }) => {
    windows.drop(memory);
    if (endsKeys) embedders.forgetQueries();
  });
  // Models come and go with memories and assignments.
  const backends = () => [...new Set([...VECTOR_BACKENDS, setup().own, ...memories.modelBackends()])];
  return new Followers({
    backlogs: Array.from({ length: shards }, (_, shard) => shardBacklog(router, shard, { outside, backends })),
    backends,
    embedders,
    isChosen: (backend) => memories.hasBackend(backend),
    mayLeave: (number) => {
      const memory = memories.byNumber(number);
      return memory !== undefined && sendsForVectors(memory, setup());
    },
    windows,
    log,
    progressed: () => indexWaits.progressed(),
  });
}

/** True if the memory's new grains are being embedded. */
function isFollowed(setup: VectorsSetup, embedders: Embedders, memory: MemoryRecord): boolean {
  const chosen = memory.vectorBackend ?? '';
  const backend = embedders.nameOf(chosen);
  if (backend === 'none' || embedders.status(chosen).state === 'failed') return false;
  return backend !== 'remote' || sendsForVectors(memory, setup);
}

type CallerContext = Parameters<Router['call']>[1];

function asSystem(memory: number): CallerContext {
  return { memory, actor: 'system', requestId: 'system' };
}
