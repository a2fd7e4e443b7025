// The layout of the graph page, in a thread as it runs in a worker of the browser.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { communitiesOf } from '../../console/src/pages/graph/communities.ts';
import { Random } from '../support/random.ts';

const WORKER = new URL('../../console/src/pages/graph/layout-worker.ts', import.meta.url);
/** Gives the thread the two functions of a browser's worker. */
const SHIM = `
  const { parentPort } = require('node:worker_threads');
  globalThis.addEventListener = (_name, on) => parentPort.on('message', (data) => on({ data }));
  globalThis.postMessage = (data) => parentPort.postMessage(data);
  import(${JSON.stringify(WORKER.href)});
`;

/** The messages of the worker: what is new in the graph, and a report. */
interface LayoutTask {
  readonly places: Float32Array;
  readonly edges: Uint32Array;
  readonly isLast: boolean;
}
interface Layout {
  readonly places: Float32Array;
  readonly isLast: boolean;
}

const CIRCLES = 20;
const CIRCLE_NODES = 100;
const NODES = CIRCLES * CIRCLE_NODES;

/** Edges within circles, and one in ten between them. */
function edgesOf(random: Random): Uint32Array<ArrayBuffer> {
  const some = (below: number): number => random.u32() % below;
  return Uint32Array.from(
    Array.from({ length: 2 * NODES }, () => {
      const circle = some(CIRCLES) * CIRCLE_NODES;
      return [circle + some(CIRCLE_NODES), some(10) === 0 ? some(NODES) : circle + some(CIRCLE_NODES)];
    }).flat(),
  );
}

test('circles of nodes lie together, though the graph came in two parts, and the first part is not laid out alone', async (t) => {
  const random = new Random(5);
  const edges = edgesOf(random);
  const start = Float32Array.from({ length: 2 * NODES }, () => random.u32() / 2 ** 22);
  const worker = new Worker(SHIM, { eval: true });
  t.after(() => worker.terminate());
  const layouts: Layout[] = [];
  worker.on('message', (layout: Layout) => layouts.push(layout));
  // All nodes with some edges, then the other edges.
  const half = edges.length / 2;
  const parts: readonly LayoutTask[] = [
    { places: start, edges: edges.slice(0, half), isLast: false },
    { places: new Float32Array(0), edges: edges.slice(half), isLast: true },
  ];
  for (const part of parts) worker.postMessage(part);
  while (layouts.at(-1)?.isLast !== true) await once(worker, 'message');
  assert.ok(layouts.every(({ places }) => places.length === 2 * NODES));
  const { places } = layouts.at(-1)!;
  const distance = (a: number, b: number): number =>
    Math.hypot(places[2 * a]! - places[2 * b]!, places[2 * a + 1]! - places[2 * b + 1]!);
  const mean = (of: () => number): number => Array.from({ length: 20_000 }, of).reduce((a, b) => a + b) / 20_000;
  const node = (): number => random.u32() % NODES;
  const within = mean(() => {
    const one = node();
    return distance(one, one - (one % CIRCLE_NODES) + (random.u32() % CIRCLE_NODES));
  });
  const ratio = within / mean(() => distance(node(), node()));
  assert.ok(ratio < 0.5, `nodes of a circle are ${ratio} as far apart as any two`);
});

test('communities lie within circles of nodes, and are the same each time', () => {
  const edges = edgesOf(new Random(6));
  const { of, count } = communitiesOf(NODES, edges);
  assert.ok(count < NODES / 3, `${count} communities`);
  const sizes = new Map<number, Map<number, number>>();
  for (const [node, community] of of.entries()) {
    const circles = sizes.get(community) ?? new Map<number, number>();
    const circle = Math.floor(node / CIRCLE_NODES);
    circles.set(circle, (circles.get(circle) ?? 0) + 1);
    sizes.set(community, circles);
  }
  const inTheLargest = [...sizes.values()].reduce((sum, circles) => sum + Math.max(...circles.values()), 0);
  assert.ok(inTheLargest > 0.8 * NODES, `${inTheLargest} nodes are in a community of their circle`);
  assert.deepEqual(communitiesOf(NODES, edges), { of, count });
});

test('nodes without edges, loops and double edges make communities', () => {
  assert.deepEqual(communitiesOf(0, new Uint32Array()), { of: new Uint32Array(), count: 0 });
  assert.deepEqual([...communitiesOf(3, new Uint32Array()).of], [0, 1, 2]);
  const { of, count } = communitiesOf(4, Uint32Array.of(0, 0, 1, 2, 2, 1, 3, 3));
  assert.equal(count, 3);
  assert.equal(of[1], of[2]);
});
