// Lays out a graph away from the page: ForceAtlas2 in slices, whose places it sends as it goes. It begins when the graph is
// complete: what is laid out earlier takes time from reading the rest. The graph may grow again.
import defaults from 'graphology-layout-forceatlas2/defaults.js';
import iterate from 'graphology-layout-forceatlas2/iterate.js';

/** New nodes and edges of the graph. */
export interface LayoutTask {
  /** x and y of each new node, one after the other. Nodes are numbered as they come. */
  readonly places: Float32Array;
  /** Numbers of the source and the target of each new edge, one after the other. */
  readonly edges: Uint32Array;
  /** True if nothing more comes. */
  readonly isLast: boolean;
}

/** A report: x and y of each node that the worker knows, one after the other. */
export interface Layout {
  readonly places: Float32Array;
  /** True if the layout is complete. */
  readonly isLast: boolean;
}

/** The layout ends after the first number of iterations; after the second one if it has taken this time. */
const ITERATIONS_MAX = 300;
const ITERATIONS_MIN = 40;
const TIME_MS = 1_400;
/** Time between two reports. */
const REPORT_MS = 400;
/** From this number of nodes on, the forces of far nodes are added up. */
const MANY_NODES = 500;

/** Numbers of a node in the matrix of nodes: x, y, two of its force now, two before, mass, convergence, size, whether fixed. */
const NODE = 10;
const [X, Y, MASS, CONVERGENCE, SIZE] = [0, 1, 6, 7, 8];
/** Numbers of an edge: where source and target begin in the matrix of nodes, and its weight. */
const EDGE = 3;

let nodes = new Float32Array(0);
let edges = new Float32Array(0);
/** Iterations, and the time, since the last part of the graph came. */
let done = 0;
let since = 0;
let isRunning = false;

addEventListener('message', ({ data }: MessageEvent<LayoutTask>) => {
  take(data);
  if (isRunning || !data.isLast) return;
  isRunning = true;
  void run();
});

function take({ places, edges: ends }: LayoutTask): void {
  nodes = grown(nodes, (places.length / 2) * NODE);
  for (let at = 0, node = nodes.length - (places.length / 2) * NODE; at < places.length; at += 2, node += NODE) {
    nodes[node + X] = places[at]!;
    nodes[node + Y] = places[at + 1]!;
    for (const one of [MASS, CONVERGENCE, SIZE]) nodes[node + one] = 1;
  }
  const before = edges.length;
  edges = grown(edges, (ends.length / 2) * EDGE);
  for (let at = 0, edge = before; at < ends.length; at += 2, edge += EDGE) {
    const [source, target] = [ends[at]! * NODE, ends[at + 1]! * NODE];
    edges.set([source, target, 1], edge);
    // A node is as heavy as it has edges.
    nodes[source + MASS]! += 1;
    nodes[target + MASS]! += 1;
  }
  done = 0;
  since = performance.now();
}

function grown(array: Float32Array<ArrayBuffer>, by: number): Float32Array<ArrayBuffer> {
  const next = new Float32Array(array.length + by);
  next.set(array);
  return next;
}

async function run(): Promise<void> {
  let reported = performance.now();
  while (!isDone()) {
    const many = nodes.length / NODE > MANY_NODES;
    iterate(
      {
        ...defaults,
        strongGravityMode: true,
        gravity: 0.05,
        scalingRatio: 10,
        barnesHutOptimize: many,
        barnesHutTheta: 1.2,
        // There is no time for many small steps.
        slowDown: many ? 1 : 1 + Math.log(nodes.length / NODE),
      },
      nodes,
      edges,
    );
    done += 1;
    if (performance.now() - reported < REPORT_MS) continue;
    report(false);
    reported = performance.now();
    // More of the graph comes as a message.
    await new Promise((resolve) => setTimeout(resolve));
  }
  isRunning = false;
  report(true);
}

function isDone(): boolean {
  return done >= ITERATIONS_MAX || (done >= ITERATIONS_MIN && performance.now() - since >= TIME_MS);
}

function report(isLast: boolean): void {
  const places = new Float32Array((nodes.length / NODE) * 2);
  for (let node = 0, at = 0; node < nodes.length; node += NODE, at += 2) {
    places[at] = nodes[node + X]!;
    places[at + 1] = nodes[node + Y]!;
  }
  postMessage({ places, isLast } satisfies Layout, { transfer: [places.buffer] });
}
