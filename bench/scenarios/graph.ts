// A graph of a thousand nodes around a node of one large memory, in process, beside the same grains opened by their hashes.
import { join } from 'node:path';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import type { Graph } from '../../src/server/operations/graph/walk.ts';
import { walkGraph } from '../../src/server/operations/graph/walk.ts';
import { addAll, batchesOf, contextOf, makeMemories, type OpenShard, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { generator } from '../lib/random.ts';
import { type Measured, type Options, type Scenario, sized } from '../lib/scenario.ts';
import { inTurns, median, medianRatio, percentile, rounded } from '../lib/statistics.ts';

const CONTEXT = contextOf(1);
const NODES = 1_000;
const DEPTH = 3;
/** Edges that leave a node, on average: a graph of depth three then has more than a thousand nodes. */
const EDGES_A_NODE = 10;

export const scenario: Scenario = {
  name: 'graph',
  about: 'a graph of a thousand nodes at depth three, in process',
  aims: [{ metric: 'graph_p50_ms', atMost: 20 }],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const grains = sized(size, { full: 1_000_000, quick: 100_000, smoke: 500 });
  const rounds = sized(size, { full: 9, quick: 5, smoke: 1 });
  const starts = sized(size, { full: 30, quick: 20, smoke: 2 });
  return inFolder(async (folder) => {
    const shard = await openShard(join(folder, 'granary'));
    await makeMemories(shard.engine, 1, 1);
    const random = generator(1);
    const node = (): string => `thing-${Math.floor((random() * grains) / EDGES_A_NODE)}`;
    let made = 0;
    const belief = (): AddItem => ({
      grainType: 'belief',
      fields: { subject: node(), relation: `relation-${made % 30}`, object: node(), confidence: 0.9, number: made++ },
    });
    for (let left = grains; left > 0; left -= 10_000)
      await addAll(shard, batchesOf(1, Array.from({ length: Math.min(left, 10_000) }, belief)));
    await settle(shard);
    const names = Array.from({ length: starts }, node);
    const graphs: Graph[] = [];
    for (const name of names) graphs.push(await graphAt(shard, name));
    const times = await inTurns(
      rounds + 1,
      {
        graph: () => timed(names, (name) => graphAt(shard, name)),
        opened: () => timed(graphs, (graph) => opened(shard, graph)),
      },
      { graph: names.length, opened: names.length },
    );
    await shard.close();
    const p50s = (name: keyof typeof times): number[] => times[name].slice(1).map((ms) => percentile(ms, 0.5));
    return {
      parameters: { grains, nodes: NODES, depth: DEPTH, edges_a_node: EDGES_A_NODE, starts, rounds },
      metrics: rounded({
        graph_p50_ms: median(p50s('graph')),
        graph_p99_ms: median(times.graph.slice(1).map((ms) => percentile(ms, 0.99))),
        opened_p50_ms: median(p50s('opened')),
        graph_over_opened_ratio: medianRatio(p50s('graph'), p50s('opened')),
        nodes_mean: graphs.reduce((sum, { nodes }) => sum + nodes.length, 0) / graphs.length,
        edges_mean: graphs.reduce((sum, { edges }) => sum + edges.length, 0) / graphs.length,
      }),
    };
  });
}

function graphAt({ engine }: OpenShard, start: string): Promise<Graph> {
  return walkGraph(
    { start, depth: DEPTH, limit: NODES, direction: 'out', relation: undefined },
    async (input) => engine.read('edges', CONTEXT, input),
    () => performance.now(),
  );
}

/** The raw limit: the edges' grains, opened by hash. */
async function opened({ engine }: OpenShard, { edges }: Graph): Promise<void> {
  engine.read('fetch', CONTEXT, { hashes: edges.map(({ hash }) => hash) });
}

/** Milliseconds of each. */
async function timed<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (const item of items) {
    const began = performance.now();
    await work(item);
    times.push(performance.now() - began);
  }
  return times;
}
