// Implements a shard's backlog with shard calls.
import { defined } from '../../engine/base/defined.ts';
import type { EmbedderStamp } from '../../engine/calls/recall.ts';
import { packVectors } from '../../engine/index/vectors/transfer.ts';
import type { Router } from '../../shards/router.ts';
import { EARLIER_WORDS, VECTOR_BACKENDS, type VectorBackend } from './backends.ts';
import type { Backlog, StampOf } from './backlog.ts';
import type { Outside } from './egress.ts';

export interface BacklogBackends {
  /** Returns the backends whose embedders run on other machines at present. Absent: none. */
  readonly outside?: (() => Outside) | undefined;
  /** Returns the present backends of the deployment. Absent: those that name no model. */
  readonly backends?: (() => readonly VectorBackend[]) | undefined;
}

/** The backlog of the shard with that index. */
export function shardBacklog(
  router: Pick<Router, 'callShard'>,
  shard: number,
  { outside = () => ({ backends: [] }), backends = () => VECTOR_BACKENDS }: BacklogBackends = {},
): Backlog {
  return {
    async fresh(stampOf, grainsMax) {
      const asked = { embedders: embeddersOf(stampOf, backends()), grainsMax, ...outsideIn(outside()) };
      return (await router.callShard(shard, 'embedPages', { ...asked, fresh: true })).pages;
    },
    async pages(stampOf, grainsMax) {
      const asked = { embedders: embeddersOf(stampOf, backends()), grainsMax, ...outsideIn(outside()) };
      // One call examines a bounded number of memories. Nothing is pending once all were examined.
      for (let looked = 0; ; ) {
        const found = await router.callShard(shard, 'embedPages', asked);
        looked += found.looked;
        if (found.pages.length > 0 || found.looked === 0 || looked >= found.waiting) return found.pages;
      }
    },
    async store({ grains, ...page }) {
      const packed = grains.map(({ ordinal, vectors }) => ({ ordinal, vectors: packVectors(vectors) }));
      await router.callShard(shard, 'keepVectors', { ...page, grains: packed });
    },
  };
}

function outsideIn({ backends, region }: Outside) {
  return defined({ outside: backends, region });
}

function embeddersOf(stampOf: StampOf, backends: readonly VectorBackend[]): Record<string, EmbedderStamp> {
  const embedders: Record<string, EmbedderStamp> = {};
  for (const backend of ['', ...backends, ...Object.keys(EARLIER_WORDS)]) {
    const stamp = stampOf(backend);
    if (stamp !== undefined) embedders[backend] = stamp;
  }
  return embedders;
}
