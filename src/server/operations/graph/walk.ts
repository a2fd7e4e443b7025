// Breadth-first search over the edges of a memory: a level of nodes at a time, a page of edges at a time.
import { GRAPH_EDGES_MAX, GRAPH_EDGES_PAGE, GRAPH_MS_MAX } from '../../../engine/base/limits.ts';
import type { EdgeView, Input, Output } from '../../../shards/protocol.ts';

export interface GraphNode {
  readonly id: string;
  /** Number of edges from the start, at least. */
  readonly depth: number;
  /** Number of the graph's edges at the node; an edge from a node to itself counts once. */
  degree: number;
}

export interface Graph {
  /** By depth, then in the order in which they were found. */
  readonly nodes: readonly GraphNode[];
  /** In the order in which they were found. */
  readonly edges: readonly EdgeView[];
  readonly truncated: boolean;
}

export interface Walk {
  readonly start: string;
  /** Number of levels after the start. */
  readonly depth: number;
  /** Largest number of nodes, the start included. */
  readonly limit: number;
  readonly direction: Input<'edges'>['direction'];
  readonly relation: string | undefined;
}

type ReadEdges = (input: Input<'edges'>) => Promise<Output<'edges'>>;

/** `nowMs`: a clock without steps, in milliseconds. */
export async function walkGraph(walk: Walk, readEdges: ReadEdges, nowMs: () => number): Promise<Graph> {
  const graph = new GrowingGraph(walk.start, walk.limit);
  const endMs = nowMs() + GRAPH_MS_MAX;
  let level: readonly GraphNode[] = graph.nodes;
  for (let depth = 1; depth <= walk.depth && level.length > 0 && !graph.truncated; depth += 1) {
    const before = graph.nodes.length;
    let after: Input<'edges'>['after'];
    do {
      const nodes = level.map(({ id }) => id);
      const page = await readEdges({
        nodes,
        direction: walk.direction,
        relation: walk.relation,
        limit: GRAPH_EDGES_PAGE,
        after,
      });
      for (const edge of page.edges) graph.add(edge, depth);
      after = page.next;
      if (after !== undefined && (graph.edges.length >= GRAPH_EDGES_MAX || nowMs() > endMs)) graph.truncated = true;
    } while (after !== undefined && !graph.truncated);
    level = graph.nodes.slice(before);
  }
  return graph;
}

class GrowingGraph implements Graph {
  readonly nodes: GraphNode[] = [];
  readonly edges: EdgeView[] = [];
  truncated = false;
  readonly #limit: number;
  readonly #byId = new Map<string, GraphNode>();
  readonly #known = new Set<string>();

  constructor(start: string, limit: number) {
    this.#limit = limit;
    this.#node(start, 0);
  }

  /** Leaves out an edge to a node for which there is no room: the graph has both ends of each of its edges. */
  add(edge: EdgeView, depth: number): void {
    if (this.#known.has(edge.hash)) return;
    const source = this.#node(edge.source, depth);
    const target = this.#node(edge.target, depth);
    if (source === undefined || target === undefined) {
      this.truncated = true;
      return;
    }
    this.#known.add(edge.hash);
    this.edges.push(edge);
    source.degree += 1;
    if (target !== source) target.degree += 1;
  }

  /** The node, added if there is room for it. */
  #node(id: string, depth: number): GraphNode | undefined {
    const known = this.#byId.get(id);
    if (known !== undefined || this.nodes.length >= this.#limit) return known;
    const node: GraphNode = { id, depth, degree: 0 };
    this.nodes.push(node);
    this.#byId.set(id, node);
    return node;
  }
}
