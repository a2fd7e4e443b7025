import type { Output } from 'granary-client';
import { useId, useState } from 'preact/hooks';
import { useMemoryId, useQuery } from '../../address.ts';
import { useAsk } from '../../ask.ts';
import type { PageProps } from '../../page.ts';
import { Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ChoiceFilter } from '../../parts/filters.tsx';
import { Loading } from '../../parts/loading.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { SERVER } from '../../place.ts';
import { useSession } from '../../session.ts';
import { Shown } from './shown.tsx';
import { Whole } from './whole.tsx';
import './graph.css';

type Answer = Output<'graph'>;
type Edge = Answer['edges'][number];

const DEPTHS = ['1', '2', '3', '4', '5'] as const;
const NODES_MAX = 1_000;
/** Takes out of the address what belongs to another graph. */
const NOWHERE = { start: undefined, whole: undefined, edges: undefined, node: undefined, until: undefined };
const DIRECTIONS = ['both', 'out', 'in'] as const;

export default function Graph({ page }: PageProps) {
  const memory = useMemoryId();
  const query = useQuery();
  const starts = query.all('start').filter((one) => one !== '');
  return (
    <PageFrame page={page} fills>
      <Form key={JSON.stringify([query.one('start'), query.one('relation')])} />
      {starts.length > 0 ? (
        <Around memory={memory} starts={starts} />
      ) : query.one('whole') === '' ? (
        <Beginning memory={memory} />
      ) : (
        <Whole memory={memory} />
      )}
    </PageFrame>
  );
}

/** The graph around some subjects or objects. */
function Around({ memory, starts }: { readonly memory: string; readonly starts: readonly string[] }) {
  const query = useQuery();
  const { client } = useSession();
  const depth = Number(query.one('depth') || '2');
  const direction = DIRECTIONS.find((one) => one === query.one('direction')) ?? 'both';
  const relation = query.one('relation') || undefined;
  const key = JSON.stringify([memory, starts, depth, direction, relation]);
  const { value, error, isLoading, again } = useAsk(key, async (signal) => {
    const ask = (start: string): Promise<Answer> =>
      client.memory(memory).operations.graph({ start, depth, direction, relation, limit: NODES_MAX }, { signal });
    return merged(await Promise.all(starts.map(ask)));
  });
  return (
    <>
      {error !== undefined && <ErrorBox error={error} again={again} />}
      {isLoading && value === undefined && <Loading what="the graph" />}
      {value !== undefined && value.edges.length === 0 && (
        <Empty title={`Nothing is connected with ${starts.join(', ')}`}>
          Names must match exactly. Try another direction, or leave out the relation.
        </Empty>
      )}
      {value !== undefined && value.edges.length > 0 && (
        <Shown
          memory={memory}
          nodes={value.nodes}
          edges={value.edges}
          isComplete
          note={value.truncated ? '; more were left out' : ''}
        />
      )}
    </>
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
        query.set({ ...NOWHERE, start, relation });
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
      <button type="button" onClick={() => query.set({ ...NOWHERE, relation, whole: '1' })}>
        Whole memory
      </button>
    </form>
  );
}

function Beginning({ memory }: { readonly memory: string }) {
  const call = `curl "${SERVER}api/memories/${encodeURIComponent(memory)}/graph?start=ada&depth=2" \\
  -H "authorization: Bearer $GRANARY_API_KEY"`;
  return (
    <Empty title="Name a subject or an object to start at" call={call}>
      Each current belief with a subject and an object is an edge. This call answers the same; "Whole memory" shows all
      edges.
    </Empty>
  );
}
