// A shard's backlog behind the calls that a shard answers.
import { packVectors } from '../../engine/index/vectors/transfer.ts';
import type { Router } from '../../shards/router.ts';
import type { Backlog } from './backlog.ts';

/** The backlog of the shard with that index. Memories have the deployment's own embedder. */
export function shardBacklog(router: Pick<Router, 'callShard'>, shard: number): Backlog {
  return {
    async pages(stampOf, grainsMax) {
      const embedder = stampOf('');
      if (embedder === undefined) return [];
      const { pages } = await router.callShard(shard, 'embedPages', { embedder, grainsMax });
      return pages.map((page) => ({ ...page, backend: '' }));
    },
    async store({ grains, ...page }) {
      const packed = grains.map(({ ordinal, vectors }) => ({ ordinal, vectors: packVectors(vectors) }));
      await router.callShard(shard, 'keepVectors', { ...page, grains: packed });
    },
  };
}
