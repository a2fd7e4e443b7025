// Lays out a graph away from the page: ForceAtlas2 in slices, whose positions it sends as it goes.
import { MultiDirectedGraph } from 'graphology';
import forceAtlas2 from 'graphology-layout-forceatlas2';

/** Places and edges, by the numbers of their nodes. */
export interface LayoutTask {
  /** x and y of each node, one after the other. */
  readonly places: Float64Array;
  /** Source and target of each edge, one after the other. */
  readonly edges: Uint32Array;
}

/** Iterations between two reports, and all of them. */
const SLICE = 20;
const ITERATIONS = 300;
/** A big graph is laid out as far as this time allows. */
const TIME_MS = 2_500;

addEventListener('message', ({ data }: MessageEvent<LayoutTask>) => {
  const { places, edges } = data;
  const graph = new MultiDirectedGraph();
  for (let node = 0; node < places.length / 2; node++)
    graph.addNode(node, { x: places[2 * node], y: places[2 * node + 1] });
  for (let at = 0; at < edges.length; at += 2) graph.addEdge(edges[at], edges[at + 1]);
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: graph.order > 500, adjustSizes: false };
  const started = performance.now();
  for (let done = 0; done < ITERATIONS && performance.now() - started < TIME_MS; done += SLICE) {
    forceAtlas2.assign(graph, { iterations: SLICE, settings });
    const next = new Float64Array(places.length);
    graph.forEachNode((node, attributes) => {
      next[2 * Number(node)] = attributes['x'];
      next[2 * Number(node) + 1] = attributes['y'];
    });
    postMessage(next, { transfer: [next.buffer] });
  }
  postMessage(undefined);
});
