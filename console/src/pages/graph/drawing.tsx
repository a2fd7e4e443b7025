// Draws a graph, which may grow while it is read.
import { useEffect, useRef, useState } from 'preact/hooks';
import { counted } from '../../parts/grain.tsx';
import { shade } from '../../theme.ts';
import { type Edge, GraphView, type Node } from './view.ts';

interface Props {
  readonly nodes: readonly Node[];
  /** Edges are only added at the end, unless the first one is another one. */
  readonly edges: readonly Edge[];
  /** True if no more edges come by themselves. */
  readonly isComplete: boolean;
  /** Later edges are hidden. */
  readonly untilMs: number;
  readonly open: string;
  readonly onOpen: (id: string) => void;
}

export function Drawing({ nodes, edges, isComplete, untilMs, open, onOpen }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<GraphView | undefined>(undefined);
  const [isLaidOut, setLaidOut] = useState(false);
  const [fault, setFault] = useState<string>();
  const latest = useRef(onOpen);
  latest.current = onOpen;
  const [first] = edges;
  const shown = shade.value;
  useEffect(() => {
    if (place.current === null) return;
    try {
      view.current = new GraphView(place.current, {
        onOpen: (id) => latest.current(id),
        onLaidOut: () => setLaidOut(true),
      });
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
    return () => {
      view.current?.stop();
      view.current = undefined;
    };
  }, [first, shown]);
  useEffect(() => {
    setLaidOut(false);
    view.current?.add(nodes, edges, isComplete);
  }, [nodes, edges, isComplete, shown]);
  useEffect(() => view.current?.emphasize({ untilMs, open }), [untilMs, open, first, shown]);
  return (
    <div class="graph-place" data-laid-out={isLaidOut}>
      {fault === undefined ? (
        <div
          ref={place}
          class="graph-drawing"
          role="img"
          aria-label={`${counted(nodes.length, 'node')} and ${counted(edges.length, 'edge')}`}
        />
      ) : (
        <p class="bad">The graph cannot be drawn here: {fault}. The list beside it has every edge.</p>
      )}
    </div>
  );
}
