// Draws a graph by WebGL. The layout runs in a worker; the page only moves the nodes.
import { MultiDirectedGraph } from 'graphology';
import { useEffect, useRef, useState } from 'preact/hooks';
import Sigma from 'sigma';
import type { LayoutTask } from './layout-worker.ts';
import layoutUrl from './layout-worker.ts?worker&url';

export interface Node {
  readonly id: string;
  /** Number of edges from the start. */
  readonly depth: number;
}

export interface Edge {
  readonly hash: string;
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  readonly createdAt: Date;
}

interface Props {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  /** Later edges are hidden. */
  readonly until: number;
  readonly open: string;
  readonly onOpen: (id: string) => void;
}

export function Drawing({ nodes, edges, until, open, onOpen }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ readonly sigma: Sigma; readonly graph: MultiDirectedGraph } | undefined>(undefined);
  const [isLaidOut, setLaidOut] = useState(false);
  const [fault, setFault] = useState<string>();
  const latest = useRef(onOpen);
  latest.current = onOpen;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const colours = coloursOf(element);
    const graph = graphOf(nodes, edges, colours);
    let sigma: Sigma;
    try {
      sigma = new Sigma(graph, element, {
        labelColor: { color: colours.text },
        labelFont: 'system-ui, sans-serif',
        defaultEdgeType: 'arrow',
        renderEdgeLabels: graph.size <= EDGE_LABELS_MAX,
        edgeLabelColor: { color: colours.soft },
        labelDensity: 0.6,
      });
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
      return;
    }
    sigma.on('clickNode', ({ node }) => latest.current(node));
    drawn.current = { sigma, graph };
    setLaidOut(false);
    const stop = layOut(graph, () => setLaidOut(true));
    return () => {
      stop();
      sigma.kill();
      drawn.current = undefined;
    };
  }, [nodes, edges]);
  useEffect(() => {
    drawn.current?.sigma.setSetting('edgeReducer', (_edge, data) => ({ ...data, hidden: data['atMs'] > until }));
  }, [until, nodes, edges]);
  useEffect(() => {
    drawn.current?.sigma.setSetting('nodeReducer', (node, data) =>
      node === open ? { ...data, highlighted: true, forceLabel: true } : data,
    );
  }, [open, nodes, edges]);
  return (
    <div class="graph-place" data-laid-out={isLaidOut}>
      {fault === undefined ? (
        <div
          ref={place}
          class="graph-drawing"
          role="img"
          aria-label={`${nodes.length} nodes and ${edges.length} edges`}
        />
      ) : (
        <p class="bad">The graph cannot be drawn here: {fault}. The list beside it has every edge.</p>
      )}
    </div>
  );
}

const EDGE_LABELS_MAX = 200;

interface Colours {
  readonly text: string;
  readonly soft: string;
  readonly line: string;
  readonly start: string;
  readonly near: string;
  readonly far: string;
}

function graphOf(nodes: readonly Node[], edges: readonly Edge[], colours: Colours): MultiDirectedGraph {
  const graph = new MultiDirectedGraph();
  const degrees = new Map<string, number>();
  for (const { source, target } of edges)
    for (const end of [source, target]) degrees.set(end, (degrees.get(end) ?? 0) + 1);
  for (const [at, { id, depth }] of nodes.entries()) {
    // A spiral: near the start what is near it, and no two nodes at one place.
    const angle = at * 2.399_963;
    const radius = Math.sqrt(at) * 10;
    graph.addNode(id, {
      x: radius * Math.cos(angle),
      y: radius * Math.sin(angle),
      size: 3 + 2 * Math.log2(1 + (degrees.get(id) ?? 0)),
      label: id.length > 60 ? `${id.slice(0, 59)}…` : id,
      color: depth === 0 ? colours.start : depth === 1 ? colours.near : colours.far,
    });
  }
  for (const { hash, source, target, relation, createdAt } of edges)
    if (graph.hasNode(source) && graph.hasNode(target) && !graph.hasEdge(hash))
      graph.addEdgeWithKey(hash, source, target, {
        label: relation,
        color: colours.line,
        size: 1,
        atMs: createdAt.getTime(),
      });
  return graph;
}

/** Moves the nodes as the worker finds their places. Returns what stops it. */
function layOut(graph: MultiDirectedGraph, onEnd: () => void): () => void {
  const ids = graph.nodes();
  const numbers = new Map(ids.map((id, at) => [id, at]));
  const places = new Float64Array(2 * ids.length);
  for (const [at, id] of ids.entries()) {
    places[2 * at] = graph.getNodeAttribute(id, 'x');
    places[2 * at + 1] = graph.getNodeAttribute(id, 'y');
  }
  const ends = graph.mapEdges((_edge, _attributes, source, target) => [numbers.get(source)!, numbers.get(target)!]);
  const worker = new Worker(trusted(new URL(layoutUrl, import.meta.url)), { type: 'module' });
  worker.addEventListener('message', ({ data }: MessageEvent<Float64Array | undefined>) => {
    if (data === undefined) {
      worker.terminate();
      onEnd();
      return;
    }
    graph.updateEachNodeAttributes(
      (id, attributes) => {
        const at = numbers.get(id)!;
        attributes['x'] = data[2 * at];
        attributes['y'] = data[2 * at + 1];
        return attributes;
      },
      { attributes: ['x', 'y'] },
    );
  });
  worker.postMessage({ places, edges: Uint32Array.from(ends.flat()) } satisfies LayoutTask);
  return () => worker.terminate();
}

/** The page's policy takes the address of a worker from this policy alone. */
function trusted(url: URL): URL {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('console-worker', { createScriptURL: (text) => text });
  return (policy?.createScriptURL(url.href) ?? url) as URL; // a TrustedScriptURL, where there are such
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (text: string) => string }): ScriptPolicy;
}

interface ScriptPolicy {
  createScriptURL(text: string): unknown;
}

let policy: ScriptPolicy | undefined;

/** WebGL knows neither tokens nor `light-dark()`. */
function coloursOf(element: HTMLElement): Colours {
  const probe = document.createElement('span');
  element.append(probe);
  const named = (token: string): string => {
    probe.style.color = `var(${token})`;
    return hex(getComputedStyle(probe).color);
  };
  const colours = {
    text: named('--text'),
    soft: named('--soft'),
    line: named('--line-strong'),
    start: named('--bad'),
    near: named('--accent'),
    far: named('--good'),
  };
  probe.remove();
  return colours;
}

function hex(colour: string): string {
  const [red = '0', green = '0', blue = '0'] = colour.match(/\d+/g) ?? [];
  return `#${[red, green, blue].map((one) => Number(one).toString(16).padStart(2, '0')).join('')}`;
}
