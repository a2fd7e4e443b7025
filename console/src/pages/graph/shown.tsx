// A graph with its time slider, and the list of its edges beside it.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { addressOf, useQuery } from '../../address.ts';
import { counted, Time } from '../../parts/grain.tsx';
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx';
import { Drawing } from './drawing.tsx';
import type { Edge, Node } from './view.ts';

/** Positions of the time: a key moves it by one. */
const STEPS = 100;
const GRAINS = { on: 'memory', path: 'grains' } as const;

interface Props {
  readonly memory: string;
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  /** True if no more edges come by themselves. */
  readonly isComplete: boolean;
  /** A note on missing edges, after the numbers of nodes and edges. */
  readonly note: string;
  /** Buttons beside the numbers. */
  readonly children?: ComponentChildren;
}

export function Shown({ memory, nodes, edges, isComplete, note, children }: Props) {
  const query = useQuery();
  const open = query.one('node');
  const [first, last] = useMemo(() => {
    const times = edges.map(({ createdAt }) => createdAt.getTime());
    return [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))] as const;
  }, [edges]);
  const until = query.one('until');
  const untilMs = until === '' ? Number.POSITIVE_INFINITY : Number(until);
  const step = Math.max(1, Math.ceil((last - first) / STEPS));
  const listed = useMemo(
    () =>
      edges.filter(
        ({ source, target, createdAt }) =>
          (open === '' || source === open || target === open) && createdAt.getTime() <= untilMs,
      ),
    [edges, open, untilMs],
  );
  const columns = useMemo(() => columnsOf(memory), [memory]);
  return (
    <>
      <div class="graph-time">
        <label for="graph-until">Until</label>
        <input
          id="graph-until"
          type="range"
          min={first}
          // The last step reaches the last edge.
          max={first + step * Math.ceil((last - first) / step)}
          step={step}
          value={Math.min(untilMs, last)}
          disabled={first === last}
          onInput={(event) => query.set({ until: event.currentTarget.value }, true)}
        />
        <Time at={new Date(Math.min(untilMs, last))} />
        <span role="status">{`${counted(nodes.length, 'node')}, ${counted(edges.length, 'edge')}${note}`}</span>
        {children}
      </div>
      <div class="graph-split">
        <Drawing
          nodes={nodes}
          edges={edges}
          isComplete={isComplete}
          untilMs={untilMs}
          open={open}
          onOpen={(node) => query.set({ node })}
        />
        <div class="graph-side">
          {open !== '' && (
            <div class="buttons">
              <b dir="auto">{open}</b>
              <button
                type="button"
                onClick={() => query.set({ start: [...new Set([...query.all('start'), open])], whole: undefined })}
              >
                {query.one('whole') === '' ? 'Expand' : 'Start here'}
              </button>
              <button type="button" onClick={() => query.set({ node: undefined })}>
                All edges
              </button>
            </div>
          )}
          <VirtualTable label="Edges" columns={columns} rows={listed} keyOf={({ hash }) => hash} />
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
