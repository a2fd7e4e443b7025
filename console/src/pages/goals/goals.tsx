import { useCallback, useEffect, useState } from 'preact/hooks';
import { useMemoryId, useQuery } from '../../address.ts';
import { useAsk } from '../../ask.ts';
import { type RowList, useList } from '../../list.ts';
import type { PageProps } from '../../page.ts';
import { Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx';
import { count, counted, Time } from '../../parts/grain.tsx';
import { GrainPanel } from '../../parts/grain-panel/grain-panel.tsx';
import { ListFoot } from '../../parts/list-foot.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx';
import { SERVER } from '../../place.ts';
import { allowed, useSession } from '../../session.ts';
import { MoveGoal } from './move-goal.tsx';
import './goals.css';
import { GoalTree } from './goal-tree.tsx';
import { GOAL_STATES, GoalState } from './state.tsx';

interface Row {
  readonly hash: string;
  readonly description: string;
  readonly state: string;
  readonly priority: string;
  readonly session: string;
  readonly createdAt: Date;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'State', width: '6.5rem', cell: ({ state }) => <GoalState state={state} /> },
  { title: 'Goal', width: 'minmax(10rem, 1fr)', cell: ({ description }) => <span dir="auto">{description}</span> },
  { title: 'Priority', width: '6rem', cell: ({ priority }) => priority, isMinor: true },
  { title: 'Session', width: '9rem', cell: ({ session }) => session, isMinor: true },
  { title: 'Changed', width: '7.5rem', cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
];

const FILTERS = ['state', 'user', 'session'] as const;

export default function Goals({ page }: PageProps) {
  const memory = useMemoryId();
  const query = useQuery();
  const session = query.one('session');
  const state = query.one('state');
  const open = query.one('grain');
  const list = useGoals(memory, { session, user: query.one('user') });
  const rows = state === '' ? list.rows : list.rows.filter((row) => row.state === state);
  const more = useMoreRows(list, rows.length);
  const close = (): void => query.set({ grain: undefined });
  return (
    <PageFrame page={page} fills>
      <Filters names={FILTERS}>
        <ChoiceFilter name="state" label="State" choices={GOAL_STATES} none="All states" />
        <TextFilter name="user" label="User" />
        <TextFilter name="session" label="Session" />
      </Filters>
      {list.error !== undefined && <ErrorBox error={list.error} again={list.again} />}
      {list.isComplete && rows.length === 0 && open === '' ? (
        <NoGoals memory={memory} isFiltered={FILTERS.some((name) => query.one(name) !== '')} />
      ) : (
        <div class="split">
          {session === '' ? (
            <VirtualTable
              label="Goals"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ hash }) => hash}
              open={open}
              onOpen={({ hash }) => query.set({ grain: hash })}
              onEnd={more}
            />
          ) : (
            <Tree key={list.rows.map(({ hash }) => hash).join()} memory={memory} session={session} state={state} />
          )}
          {open !== '' && (
            <GrainPanel
              key={open}
              memory={memory}
              hash={open}
              onClose={close}
              more={allowed.value.has('moveGoal') && <MoveGoal memory={memory} hash={open} onMoved={list.again} />}
              onChanged={(next) => {
                query.set({ grain: next });
                list.again();
              }}
            />
          )}
        </div>
      )}
      <ListFoot list={{ ...list, rows }} one="goal" what="goals" />
    </PageFrame>
  );
}

const PAGE_SIZE = 200;
/** Rows that the reader is ahead of the list, at most. */
const AHEAD = 60;

/** Reads on until there are more rows, or all: the server does not filter by state, and a page may have no row that is shown. */
function useMoreRows(list: RowList<Row>, shown: number): () => void {
  const { rows, isLoading, isComplete, error, more } = list;
  const [wanted, setWanted] = useState(AHEAD);
  useEffect(() => {
    if (!isLoading && !isComplete && error === undefined && shown < wanted) more();
  }, [rows, isLoading, isComplete, error, more, shown, wanted]);
  return useCallback(() => setWanted(shown + AHEAD), [shown]);
}

function useGoals(
  memory: string,
  { session, user }: { readonly session: string; readonly user: string },
): RowList<Row> {
  const { client } = useSession();
  return useList<Row>(JSON.stringify([memory, session, user]), async (cursor, signal) => {
    const page = await client
      .memory(memory)
      .operations.listGrains(
        { grainType: ['goal'], limit: PAGE_SIZE, cursor, sessionId: session || undefined, userId: user || undefined },
        { signal },
      );
    const rows = page.grains.map(({ hash, fields, createdAt, text }) => ({
      hash,
      description: String(fields['description'] ?? text),
      state: String(fields['goal_state'] ?? ''),
      priority: String(fields['priority'] ?? ''),
      session: String(fields['session_id'] ?? ''),
      createdAt,
    }));
    return { rows, cursor: page.nextCursor ?? undefined, total: undefined };
  });
}

interface TreeProps {
  readonly memory: string;
  readonly session: string;
  readonly state: string;
}

function Tree({ memory, session, state }: TreeProps) {
  const { client } = useSession();
  const { value, error, again } = useAsk(`${memory} ${session} goals`, (signal) =>
    client.memory(memory).operations.sessionGoalTree({ sid: session }, { signal }),
  );
  if (error !== undefined) return <ErrorBox error={error} again={again} />;
  if (value === undefined) return null;
  return (
    <section class="goal-tree" aria-label={`Goals of the session ${session}`}>
      {value.truncated && (
        <p class="faint">
          {count(value.shownGoals)} of {counted(value.totalGoals, 'goal')} are shown.
        </p>
      )}
      <GoalTree nodes={value.roots} state={state} />
    </section>
  );
}

function NoGoals({ memory, isFiltered }: { readonly memory: string; readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No goal fits these filters">Clear a filter to see more.</Empty>;
  const at = `${SERVER}api/memories/${encodeURIComponent(memory)}`;
  const call = `curl ${at}/sessions/support-4711/goals/create \\
  -H "authorization: Bearer $GRANARY_API_KEY" -H "content-type: application/json" \\
  -d '{"description": "find the parcel", "priority": "high"}'`;
  return (
    <Empty title="There is no goal yet" call={call}>
      This call makes one in a session:
    </Empty>
  );
}
