// All edges of a memory, newest first, drawn while they are read.
import type { GranaryError } from 'granary-client';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useQuery } from '../../address.ts';
import { asGranaryError } from '../../ask.ts';
import { Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { count } from '../../parts/grain.tsx';
import { Loading } from '../../parts/loading.tsx';
import { noteError, useSession } from '../../session.ts';
import { Shown } from './shown.tsx';
import type { Edge, Node } from './view.ts';

const PAGE_SIZE = 500;
/** Edges that are read at once; more when a person asks for them. */
const EDGES_STEP = 20_000;
/** Time between two drawings of a graph that is being read. */
const SHOWN_MS = 400;

interface Reading {
  readonly edges: readonly Edge[];
  readonly status: 'loading' | 'paused' | 'complete' | 'failed';
  readonly error?: GranaryError | undefined;
}

const NOTHING: Reading = { edges: [], status: 'loading' };

/** Reads edges until there are `wanted`, or all. The graph is shown as it grows. */
function useEdges(memory: string, relation: string | undefined, wanted: number): Reading & { again: () => void } {
  const { client } = useSession();
  const [times, setTimes] = useState(0);
  const key = JSON.stringify([memory, relation, times]);
  const [state, setState] = useState<Reading & { readonly key: string }>({ ...NOTHING, key });
  const read = useRef<{ key: string; edges: Edge[]; cursor: string | undefined; isComplete: boolean }>(undefined);
  useEffect(() => {
    if (read.current?.key !== key) read.current = { key, edges: [], cursor: undefined, isComplete: false };
    const mine = read.current;
    const abort = new AbortController();
    const show = (status: Reading['status'], error?: GranaryError): void =>
      setState({ key, edges: [...mine.edges], status, error });
    const readAll = async (): Promise<void> => {
      let shownMs = 0;
      while (!mine.isComplete && mine.edges.length < wanted) {
        const { edges, nextCursor } = await client
          .memory(memory)
          .operations.listEdges({ relation, cursor: mine.cursor, limit: PAGE_SIZE }, { signal: abort.signal });
        mine.edges.push(...edges);
        mine.cursor = nextCursor ?? undefined;
        mine.isComplete = nextCursor === null;
        if (performance.now() - shownMs < SHOWN_MS) continue;
        show('loading');
        shownMs = performance.now();
      }
      show(mine.isComplete ? 'complete' : 'paused');
    };
    readAll().catch((thrown: unknown) => {
      if (abort.signal.aborted) return;
      const error = asGranaryError(thrown);
      noteError(error);
      show('failed', error);
    });
    return () => abort.abort();
  }, [key, wanted]);
  const again = useCallback(() => setTimes((before) => before + 1), []);
  // Between a new question and its effect, the state is still of the question before.
  return { ...(state.key === key ? state : NOTHING), again };
}

export function Whole({ memory }: { readonly memory: string }) {
  const query = useQuery();
  const relation = query.one('relation') || undefined;
  const wanted = Math.max(EDGES_STEP, Number(query.one('edges')) || 0);
  const { edges, status, error, again } = useEdges(memory, relation, wanted);
  const nodes = useMemo(() => nodesOf(edges), [edges]);
  return (
    <>
      {error !== undefined && <ErrorBox error={error} again={again} />}
      {edges.length === 0 && status === 'loading' && <Loading what="the graph" />}
      {edges.length === 0 && status === 'complete' && (
        <Empty title="This memory has no such edges">
          Each current belief with a subject and an object is an edge. Leave out the relation to see all of them.
        </Empty>
      )}
      {edges.length > 0 && (
        <Shown memory={memory} nodes={nodes} edges={edges} isComplete={status !== 'loading'} note={NOTES[status]}>
          {status === 'paused' && (
            <button type="button" onClick={() => query.set({ edges: String(edges.length + EDGES_STEP) })}>
              {`Read ${count(EDGES_STEP)} more`}
            </button>
          )}
        </Shown>
      )}
    </>
  );
}

const NOTES = {
  loading: ', loading more…',
  paused: '; older edges are left out',
  complete: '',
  failed: '; the rest did not arrive',
} as const;

/** The ends of edges: subjects, and what is only an object. */
function nodesOf(edges: readonly Edge[]): readonly Node[] {
  const depths = new Map<string, number>();
  for (const { source } of edges) depths.set(source, 1);
  for (const { target } of edges) if (!depths.has(target)) depths.set(target, 2);
  return Array.from(depths, ([id, depth]) => ({ id, depth }));
}
