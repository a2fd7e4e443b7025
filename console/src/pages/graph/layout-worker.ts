// Lays out a graph away from the page: ForceAtlas2 in slices, whose places it sends as it goes. It begins when the graph is
// complete: what is laid out earlier takes time from reading the rest. The graph may grow again.
//
// A large graph is laid out on two levels (Walshaw 2003): first its communities, as few heavy nodes, then the nodes, which begin
// around the place of their community. Single nodes alone would need hundreds of iterations to find to their neighbours.
import defaults from 'graphology-layout-forceatlas2/defaults.js';
import iterate from 'graphology-layout-forceatlas2/iterate.js';
import { communitiesOf } from './communities.ts';

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
const ITERATIONS_MIN = 20;
const TIME_MS = 700;
/** The layout of communities ends after one of these. */
const COARSE_ITERATIONS = 300;
const COARSE_MS = 200;
/** Radius, in units of the layout, that a node of mass 1 needs around the place of its community. */
const ROOM = 3;
/** Turns of this angle, in radians, never meet. */
const GOLDEN_ANGLE = 2.399_963;
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
  if (nodes.length / NODE > MANY_NODES) placeByCommunity();
  while (!isDone()) {
    improve(nodes, edges);
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

/** One iteration. */
function improve(of: Float32Array, by: Float32Array): void {
  const order = of.length / NODE;
  const many = order > MANY_NODES;
  iterate(
    {
      ...defaults,
      strongGravityMode: true,
      gravity: 0.05,
      scalingRatio: 10,
      barnesHutOptimize: many,
      barnesHutTheta: 1.2,
      // There is no time for many small steps.
      slowDown: many ? 1 : 1 + Math.log(order),
    },
    of,
    by,
  );
}

/** Lays out the communities, and places each node around its community. */
function placeByCommunity(): void {
  const order = nodes.length / NODE;
  const ends = new Uint32Array((edges.length / EDGE) * 2);
  for (let edge = 0, at = 0; edge < edges.length; edge += EDGE, at += 2) {
    ends[at] = edges[edge]! / NODE;
    ends[at + 1] = edges[edge + 1]! / NODE;
  }
  const { of, count } = communitiesOf(order, ends);
  // One community, or one for each node, tells nothing.
  if (count === 1 || count > order / 2) return;
  const centres = new Float32Array(count * NODE);
  for (let node = 0; node < order; node++) {
    const centre = of[node]! * NODE;
    const mass = nodes[node * NODE + MASS]!;
    centres[centre + MASS]! += mass;
    for (const one of [X, Y]) centres[centre + one]! += mass * nodes[node * NODE + one]!;
  }
  for (let centre = 0; centre < centres.length; centre += NODE) {
    for (const one of [X, Y]) centres[centre + one]! /= centres[centre + MASS]!;
    for (const one of [CONVERGENCE, SIZE]) centres[centre + one] = 1;
  }
  const bonds = bondsOf(ends, of, count);
  const from = performance.now();
  for (let i = 0; i < COARSE_ITERATIONS && performance.now() - from < COARSE_MS; i++) improve(centres, bonds);
  const taken = new Float32Array(count);
  for (let node = 0; node < order; node++) {
    const community = of[node]!;
    const radius = ROOM * Math.sqrt(taken[community]!);
    const angle = node * GOLDEN_ANGLE;
    taken[community]! += nodes[node * NODE + MASS]!;
    nodes[node * NODE + X] = centres[community * NODE + X]! + radius * Math.cos(angle);
    nodes[node * NODE + Y] = centres[community * NODE + Y]! + radius * Math.sin(angle);
  }
}

/** The edges between communities, as heavy as there are edges between their nodes. */
function bondsOf(ends: Uint32Array, of: Uint32Array, count: number): Float32Array {
  const weights = new Map<number, number>();
  for (let at = 0; at < ends.length; at += 2) {
    const [one, other] = [of[ends[at]!]!, of[ends[at + 1]!]!];
    if (one === other) continue;
    const bond = Math.min(one, other) * count + Math.max(one, other);
    weights.set(bond, (weights.get(bond) ?? 0) + 1);
  }
  const bonds = new Float32Array(weights.size * EDGE);
  let edge = 0;
  for (const [bond, weight] of weights) {
    bonds.set([Math.floor(bond / count) * NODE, (bond % count) * NODE, weight], edge);
    edge += EDGE;
  }
  return bonds;
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
