// `granary graph START`: the graph of subjects and objects around one of them, as a tree or for Graphviz.
import { type Command, Option } from 'commander';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { integer, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { clipped, printJson, printLine, printNote, terminalColumns } from './output.ts';

interface GraphOptions extends ServerOptions {
  readonly memory: string;
  readonly depth: number;
  readonly limit: number;
  readonly relation?: string | undefined;
  readonly direction: 'out' | 'in' | 'both';
  readonly dot?: boolean | undefined;
}

interface Node {
  readonly id: string;
  readonly depth: number;
}

interface Edge {
  readonly source: string;
  readonly relation: string;
  readonly target: string;
}

export function registerGraph(program: Command): void {
  const command = program
    .command('graph')
    .description('Print the graph of subjects and objects around one of them')
    .argument('<start>', 'subject or object to start at')
    .option('-d, --depth <n>', 'number of edges to follow', integer(1, 5), 2)
    .option('-n, --limit <n>', 'number of nodes at most', integer(1, 1000), 100)
    .option('--relation <name>', 'only edges of this relation')
    .addOption(
      new Option('--direction <direction>', 'edges to follow').choices(['out', 'in', 'both']).default('out' as const),
    )
    .option('--dot', 'print the graph in the language of Graphviz');
  withServerOptions(withMemoryOption(command)).action(graph);
}

async function graph(start: string, options: GraphOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const { memory, depth, limit, relation, direction } = options;
  const query = new URLSearchParams({ start, depth: String(depth), limit: String(limit), direction });
  if (relation !== undefined) query.set('relation', relation);
  const answer: JsonObject = await withConnection(options, (connection) =>
    connection.json('GET', `/memories/${encodeURIComponent(memory)}/graph?${query}`),
  );
  if (options.json) return printJson(answer);
  const edges = answer['edges'] as unknown as readonly Edge[]; // the contract: objects with these members
  if (options.dot === true) for (const line of dotLines(edges)) printLine(line);
  else if (edges.length === 0) printLine('No edges were found.');
  else
    for (const line of treeLines(answer['nodes'] as unknown as readonly Node[], edges))
      printLine(clipped(line, terminalColumns()));
  if (answer['truncated'] === true) printNote('The graph is cut: it has more nodes or edges. Raise --limit.');
}

/** A node's name as a string of Graphviz's language. */
function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

export function dotLines(edges: readonly Edge[]): readonly string[] {
  return [
    'digraph memory {',
    ...edges.map(
      ({ source, relation, target }) => `  ${quoted(source)} -> ${quoted(target)} [label=${quoted(relation)}];`,
    ),
    '}',
  ];
}

/** The graph as a tree: each node stands once, below a node that is one step nearer to the start. */
export function treeLines(nodes: readonly Node[], edges: readonly Edge[]): readonly string[] {
  const depths = new Map(nodes.map(({ id, depth }) => [id, depth]));
  const lines: string[] = [];
  const shown = new Set<string>();
  const printed = new Set<Edge>();
  const branch = (node: string, indent: string): void => {
    shown.add(node);
    const steps = edges.flatMap((edge) => {
      if (printed.has(edge) || (edge.source !== node && edge.target !== node)) return [];
      printed.add(edge);
      return edge.source === node
        ? [{ other: edge.target, label: `${edge.relation} → ${edge.target}` }]
        : [{ other: edge.source, label: `← ${edge.relation} ${edge.source}` }];
    });
    const below = steps.map(({ other }) => !shown.has(other) && depths.get(other) === (depths.get(node) ?? 0) + 1);
    // A node with several edges from here stands below the first one.
    const first = new Set<string>();
    steps.forEach(({ other, label }, i) => {
      const isBelow = below[i] === true && !first.has(other);
      first.add(other);
      const last = i === steps.length - 1;
      lines.push(`${indent}${last ? '└─' : '├─'} ${label}${isBelow ? '' : ' (elsewhere)'}`);
      if (isBelow) branch(other, `${indent}${last ? '   ' : '│  '}`);
    });
  };
  const start = nodes[0];
  if (start === undefined) return [];
  lines.push(start.id);
  branch(start.id, '');
  return lines;
}
