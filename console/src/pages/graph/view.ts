// A graph as WebGL draws it. It may grow; its nodes move as a worker finds better places.
import { MultiDirectedGraph } from 'graphology';
import Sigma from 'sigma';
import { EdgeArrowProgram, EdgeLineProgram, NodePointProgram } from 'sigma/rendering';
import { type Colours, coloursOf } from './colours.ts';
import { type Layouter, startLayout } from './layout.ts';
import { drawName, drawOpenName } from './name.ts';

export interface Node {
  readonly id: string;
  /** Number of edges from the start; without a start, 1 for a subject and 2 for what is only an object. */
  readonly depth: number;
}

export interface Edge {
  readonly hash: string;
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  readonly createdAt: Date;
}

/** Which part of the graph stands out, and which part is hidden. */
export interface Emphasis {
  /** Edges after this time are hidden. */
  readonly untilMs: number;
  /** The node whose edges stand out; empty for none. */
  readonly open: string;
}

interface Handlers {
  readonly onOpen: (id: string) => void;
  /** Called when the nodes have their places, and again after more came. */
  readonly onLaidOut: () => void;
}

interface NodeAttributes {
  x: number;
  y: number;
  size: number;
  label: string;
  color: string;
}

interface EdgeAttributes {
  label: string;
  size: number;
  atMs: number;
}

/** Up to this number of edges each has its name. */
const NAMED_EDGES_MAX = 200;
/** Up to this number of edges each has an arrow head. */
const ARROWS_MAX = 2_000;
/** Up to this number of nodes each has its full size. */
const FULL_SIZE_NODES = 300;
/** Nodes of this size on the screen have their names. */
const NAMED_SIZE = 4;
const NAMED_SIZE_DENSE = 3;
/** Pixels of a square in which few nodes have their names. */
const NAME_CELL = 90;
/** Letters of a name in the drawing. */
const NAME_MAX = 60;
/** Edges that are added in one task of the browser. */
const EDGES_A_TASK = 5_000;
/** Distance of neighbours before the layout. */
const STEP = 10;
/** Turns of this angle, in radians, never meet. */
const GOLDEN_ANGLE = 2.399_963;

export class GraphView {
  readonly #graph = new MultiDirectedGraph<NodeAttributes, EdgeAttributes>();
  readonly #numbers = new Map<string, number>();
  readonly #colours: Colours;
  readonly #sigma: Sigma<NodeAttributes, EdgeAttributes>;
  readonly #layout: Layouter;
  /** True where a person wants nothing to move: then only the last places are shown. */
  readonly #isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  #emphasis: Emphasis = { untilMs: Number.POSITIVE_INFINITY, open: '' };
  #hasArrows = true;
  #adding: ReturnType<typeof setTimeout> | undefined;

  /** Throws where there is no WebGL. */
  constructor(element: HTMLElement, { onOpen, onLaidOut }: Handlers) {
    this.#colours = coloursOf(element);
    this.#sigma = new Sigma<NodeAttributes, EdgeAttributes>(this.#graph, element, {
      allowInvalidContainer: true,
      labelFont: 'system-ui, sans-serif',
      // One vertex a node: without a graphics processor, an instance of a shape takes some 20 µs.
      nodeProgramClasses: { circle: NodePointProgram },
      edgeProgramClasses: { arrow: EdgeArrowProgram, line: EdgeLineProgram },
      edgeLabelColor: { color: this.#colours.soft },
      labelDensity: 0.6,
      labelGridCellSize: NAME_CELL,
      labelRenderedSizeThreshold: NAMED_SIZE,
      renderEdgeLabels: true,
      defaultDrawNodeLabel: drawName(this.#colours),
      defaultDrawNodeHover: drawOpenName(this.#colours),
      zoomToSizeRatioFunction: (ratio) => Math.sqrt(ratio) / this.#scale(),
      nodeReducer: (id, data) => this.#shownNode(id, data),
      edgeReducer: (hash, data) => this.#shownEdge(hash, data),
    });
    this.#sigma.on('clickNode', ({ node }) => onOpen(node));
    this.#layout = startLayout((places, isLast) => {
      if (isLast || !this.#isStill) this.#move(places);
      if (isLast) onLaidOut();
    });
  }

  /** Adds the nodes and edges that are not there yet, in several tasks. `isLast`: no more come by themselves. */
  add(nodes: readonly Node[], edges: readonly Edge[], isLast: boolean): void {
    clearTimeout(this.#adding);
    const depths = new Map(nodes.map(({ id, depth }) => [id, depth]));
    const left = edges.filter(({ hash }) => !this.#graph.hasEdge(hash));
    const addSome = (from: number): void => {
      const to = from + EDGES_A_TASK;
      this.#addEdges(left.slice(from, to), depths, isLast && to >= left.length);
      if (to < left.length) this.#adding = setTimeout(addSome, 0, to);
    };
    addSome(0);
  }

  #addEdges(edges: readonly Edge[], depths: ReadonlyMap<string, number>, isLast: boolean): void {
    const graph = this.#graph;
    const before = graph.order;
    // Before they are there: each change of the detail adds all edges anew.
    this.#setDetail(graph.size + edges.length);
    const ends = edges.flatMap(({ source, target }) => [source, target]);
    for (const { source, target } of edges) {
      this.#addNode(source, target, depths);
      this.#addNode(target, source, depths);
    }
    for (const { hash, source, target, relation, createdAt } of edges)
      graph.addEdgeWithKey(hash, source, target, { label: relation, size: 1, atMs: createdAt.getTime() });
    for (const id of new Set(ends)) graph.getNodeAttributes(id).size = 3 + 2 * Math.log2(1 + graph.degree(id));
    this.#sigma.scheduleRefresh({ partialGraph: { nodes: [...new Set(ends)] } });
    this.#layout.add({
      places: Float32Array.from(
        graph
          .nodes()
          .slice(before)
          .flatMap((id) => this.#placeOf(id)),
      ),
      edges: Uint32Array.from(ends, (id) => this.#numbers.get(id)!),
      isLast,
    });
  }

  emphasize(emphasis: Emphasis): void {
    this.#emphasis = emphasis;
    this.#sigma.scheduleRefresh();
  }

  stop(): void {
    clearTimeout(this.#adding);
    this.#layout.stop();
    this.#sigma.kill();
  }

  /** Puts a node beside its neighbour, if that has a place, or else farther out than all nodes before. */
  #addNode(id: string, neighbour: string, depths: ReadonlyMap<string, number>): void {
    const graph = this.#graph;
    if (graph.hasNode(id)) return;
    const at = graph.order;
    const angle = at * GOLDEN_ANGLE;
    const [x, y, radius] = graph.hasNode(neighbour)
      ? [...this.#placeOf(neighbour), STEP]
      : ([0, 0, STEP * Math.sqrt(at)] as const);
    const { start, near, far } = this.#colours;
    const depth = depths.get(id);
    this.#numbers.set(id, at);
    graph.addNode(id, {
      x: x! + radius! * Math.cos(angle),
      y: y! + radius! * Math.sin(angle),
      size: 3,
      label: id.length > NAME_MAX ? `${id.slice(0, NAME_MAX - 1)}…` : id,
      color: depth === 0 ? start : depth === 1 ? near : far,
    });
  }

  #placeOf(id: string): readonly [x: number, y: number] {
    const { x, y } = this.#graph.getNodeAttributes(id);
    return [x, y];
  }

  /** Changes the attributes themselves: an event for each of ten thousand nodes would take longer than drawing them. */
  #move(places: Float32Array): void {
    let at = 0;
    this.#graph.forEachNode((_id, attributes) => {
      if (at >= places.length) return; // it came after this report
      attributes.x = places[at]!;
      attributes.y = places[at + 1]!;
      at += 2;
    });
    this.#sigma.scheduleRefresh({ partialGraph: {} });
  }

  /** Part of their full size that nodes have: many of them need room. */
  #scale(): number {
    return Math.min(1, Math.max(0.25, Math.sqrt(FULL_SIZE_NODES / Math.max(1, this.#graph.order))));
  }

  /** Names and arrow heads are for graphs of so few edges that there is room for them. */
  #setDetail(size: number): void {
    const sigma = this.#sigma;
    const hasNames = size <= NAMED_EDGES_MAX;
    if (sigma.getSetting('renderEdgeLabels') !== hasNames) sigma.setSetting('renderEdgeLabels', hasNames);
    const hasArrows = size <= ARROWS_MAX;
    if (this.#hasArrows === hasArrows) return;
    this.#hasArrows = hasArrows;
    sigma.setSettings({
      labelRenderedSizeThreshold: hasArrows ? NAMED_SIZE : NAMED_SIZE_DENSE,
      labelGridCellSize: hasArrows ? NAME_CELL : 2 * NAME_CELL,
      hideEdgesOnMove: !hasArrows,
    });
  }

  #shownNode(
    id: string,
    data: NodeAttributes,
  ): Partial<NodeAttributes> & { highlighted?: boolean; forceLabel?: boolean } {
    return id === this.#emphasis.open ? { ...data, highlighted: true, forceLabel: true } : data;
  }

  #shownEdge(
    hash: string,
    data: EdgeAttributes,
  ): Partial<EdgeAttributes> & { hidden: boolean; type: string; color: string } {
    const { untilMs, open } = this.#emphasis;
    const isOpen = open !== '' && this.#graph.hasExtremity(hash, open);
    return {
      ...data,
      hidden: data.atMs > untilMs,
      type: this.#hasArrows ? 'arrow' : 'line',
      color: isOpen ? this.#colours.near : this.#hasArrows ? this.#colours.line : this.#colours.thinLine,
      size: isOpen ? 3 : data.size,
    };
  }
}
