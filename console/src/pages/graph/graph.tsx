import type { Output } from 'granary-client';
import { useId, useMemo, useState } from 'preact/hooks';
import { addressOf, useMemoryId, useQuery } from '../../address.ts';
import { useAsk } from '../../ask.ts';
import type { PageProps } from '../../page.ts';
import { Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ChoiceFilter } from '../../parts/filters.tsx';
import { count, Time } from '../../parts/grain.tsx';
import { Loading } from '../../parts/loading.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx';
import { SERVER } from '../../place.ts';
import { useSession } from '../../session.ts';
import { Drawing } from './drawing.tsx';
import './graph.css';

type Answer = Output<'graph'>;
type Edge = Answer['edges'][number];

const GRAINS = { on: 'memory', path: 'grains' } as const;
const DEPTHS = ['1', '2', '3', '4', '5'] as const;
const NODES_MAX = 1_000;
const DIRECTIONS = ['both', 'out', 'in'] as const;

export default function Graph({ page }: PageProps) {
  const memory = useMemoryId();
  const query = useQuery();
  const { client } = useSession();
  const starts = query.all('start').filter((one) => one !== '');
  const depth = Number(query.one('depth') || '2');
  const direction = DIRECTIONS.find((one) => one === query.one('direction')) ?? 'both';
  const relation = query.one('relation') || undefined;
  const key = starts.length === 0 ? undefined : JSON.stringify([memory, starts, depth, direction, relation]);
  const { value, error, isLoading, again } = useAsk(key, async (signal) => {
    const ask = (start: string): Promise<Answer> =>
      client.memory(memory).operations.graph({ start, depth, direction, relation, limit: NODES_MAX }, { signal });
    return merged(await Promise.all(starts.map(ask)));
  });
  return (
    <PageFrame page={page} fills>
      <Form key={query.text} />
      {error !== undefined && <ErrorBox error={error} again={again} />}
      {isLoading && value === undefined && <Loading what="the graph" />}
      {key === undefined && <Beginning memory={memory} />}
      {value !== undefined && value.edges.length === 0 && (
        <Empty title={`Nothing is connected with ${starts.join(', ')}`}>
          Names must match exactly. Try another direction, or leave out the relation.
        </Empty>
      )}
      {value !== undefined && value.edges.length > 0 && <Shown of={value} memory={memory} />}
    </PageFrame>
  );
}

/** Several answers as one. A node has its least depth. */
function merged(answers: readonly Answer[]): Pick<Answer, 'nodes' | 'edges' | 'truncated'> {
  const nodes = new Map<string, Answer['nodes'][number]>();
  const edges = new Map<string, Edge>();
  for (const answer of answers) {
    for (const node of answer.nodes) if ((nodes.get(node.id)?.depth ?? Infinity) > node.depth) nodes.set(node.id, node);
    for (const edge of answer.edges) edges.set(edge.hash, edge);
  }
  return {
    nodes: [...nodes.values()],
    edges: [...edges.values()],
    truncated: answers.some(({ truncated }) => truncated),
  };
}

/** Where to start, how far to go, and over which edges. */
function Form() {
  const query = useQuery();
  const id = useId();
  const [start, setStart] = useState(query.one('start'));
  const [relation, setRelation] = useState(query.one('relation'));
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        query.set({ start, relation, node: undefined, until: undefined });
      }}
    >
      <div class="filter">
        <label for={`${id}-start`}>Start at</label>
        <input id={`${id}-start`} required value={start} onInput={(event) => setStart(event.currentTarget.value)} />
      </div>
      <div class="filter">
        <label for={`${id}-relation`}>Relation</label>
        <input id={`${id}-relation`} value={relation} onInput={(event) => setRelation(event.currentTarget.value)} />
      </div>
      <ChoiceFilter name="depth" label="Depth" choices={DEPTHS} first="2" />
      <ChoiceFilter name="direction" label="Direction" choices={DIRECTIONS} first="both" />
      <button type="submit" class="primary">
        Show
      </button>
    </form>
  );
}

interface ShownProps {
  readonly of: ReturnType<typeof merged>;
  readonly memory: string;
}

function Shown({ of: { nodes, edges, truncated }, memory }: ShownProps) {
  const query = useQuery();
  const open = query.one('node');
  const [first, last] = useMemo(() => {
    const times = edges.map(({ createdAt }) => createdAt.getTime());
    return [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))] as const;
  }, [edges]);
  const until = Number(query.one('until') || last);
  const listed = edges.filter(
    ({ source, target, createdAt }) =>
      (open === '' || source === open || target === open) && createdAt.getTime() <= until,
  );
  return (
    <>
      <div class="graph-time">
        <label for="graph-until">Until</label>
        <input
          id="graph-until"
          type="range"
          min={first}
          max={last}
          step={1000}
          value={until}
          disabled={first === last}
          onInput={(event) => query.set({ until: event.currentTarget.value }, true)}
        />
        <Time at={new Date(until)} />
        <span role="status">
          {`${count(nodes.length)} nodes, ${count(edges.length)} edges${truncated ? '; more were left out' : ''}`}
        </span>
      </div>
      <div class="graph-split">
        <Drawing nodes={nodes} edges={edges} until={until} open={open} onOpen={(node) => query.set({ node })} />
        <div class="graph-side">
          {open !== '' && (
            <div class="buttons">
              <b dir="auto">{open}</b>
              <button type="button" onClick={() => query.set({ start: [...new Set([...query.all('start'), open])] })}>
                Expand
              </button>
              <button type="button" onClick={() => query.set({ node: undefined })}>
                All edges
              </button>
            </div>
          )}
          <VirtualTable label="Edges" columns={columnsOf(memory)} rows={listed} keyOf={({ hash }) => hash} />
        </div>
      </div>
    </>
  );
}

function columnsOf(memory: string): readonly Column<Edge>[] {
  return [
    { title: 'Subject', width: 'minmax(5rem, 1fr)', cell: ({ source }) => <span dir="auto">{source}</span> },
    {
      title: 'Relation',
      width: 'minmax(5rem, 1fr)',
      cell: ({ relation, hash }) => <a href={addressOf(GRAINS, memory, { grain: hash })}>{relation}</a>,
    },
    { title: 'Object', width: 'minmax(5rem, 1fr)', cell: ({ target }) => <span dir="auto">{target}</span> },
  ];
}

function Beginning({ memory }: { readonly memory: string }) {
  const call = `curl "${SERVER}api/memories/${encodeURIComponent(memory)}/graph?start=ada&depth=2" \\
  -H "authorization: Bearer $GRANARY_API_KEY"`;
  return (
    <Empty title="Name a subject or an object to start at" call={call}>
      Each current belief with a subject and an object is an edge. This call answers the same:
    </Empty>
  );
}
