import type { Output } from 'granary-client';
import { useRef } from 'preact/hooks';
import { useMemoryId, useQuery } from '../../address.ts';
import { type RowList, useList } from '../../list.ts';
import type { PageProps } from '../../page.ts';
import { Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Filters, TextFilter } from '../../parts/filters.tsx';
import { count, Time } from '../../parts/grain.tsx';
import { ListFoot } from '../../parts/list-foot.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx';
import { SERVER } from '../../place.ts';
import { useSession } from '../../session.ts';
import { SessionPanel } from './session-panel.tsx';

/** A session, as far as its grains have been listed. */
interface Row {
  readonly id: string;
  grains: number;
  readonly newest: Date;
  oldest: Date;
  readonly text: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Session', width: 'minmax(8rem, 1fr)', cell: ({ id }) => <b>{id}</b> },
  {
    title: 'Last grain',
    width: 'minmax(8rem, 2.5fr)',
    cell: ({ text }) => <span dir="auto">{text}</span>,
    isMinor: true,
  },
  { title: 'Grains seen', width: '6.5rem', cell: ({ grains }) => count(grains), isNumber: true },
  { title: 'From', width: '7.5rem', cell: ({ oldest }) => <Time at={oldest} />, isMinor: true },
  { title: 'To', width: '7.5rem', cell: ({ newest }) => <Time at={newest} /> },
];

const PAGE_SIZE = 500;
/** Pages without a new session that are read at once: a memory may have few sessions and many grains. */
const PAGES_AT_ONCE = 40;
const FILTERS = ['user', 'namespace'] as const;

export default function Sessions({ page }: PageProps) {
  const memory = useMemoryId();
  const query = useQuery();
  const open = query.one('session');
  const list = useSessions(memory, { user: query.one('user'), namespace: query.one('namespace') });
  const call = `curl ${SERVER}api/memories/${encodeURIComponent(memory)}/remember \\
  -H "authorization: Bearer $GRANARY_API_KEY" -H "content-type: application/json" \\
  -d '{"session_id": "support-4711", "messages": [{"role": "user", "content": "Where is my parcel?"}]}'`;
  return (
    <PageFrame page={page} fills>
      <Filters names={FILTERS}>
        <TextFilter name="user" label="User" />
        <TextFilter name="namespace" label="Namespace" />
        <TextFilter name="session" label="Open the session" />
      </Filters>
      {list.error !== undefined && <ErrorBox error={list.error} again={list.again} />}
      {list.isComplete && list.rows.length === 0 && open === '' ? (
        <Empty title="No grain belongs to a session" call={call}>
          A session begins with the first grain that names it:
        </Empty>
      ) : (
        <div class="split">
          <VirtualTable
            label="Sessions"
            columns={COLUMNS}
            rows={list.rows}
            keyOf={({ id }) => id}
            open={open}
            onOpen={({ id }) => query.set({ session: id })}
            onEnd={list.more}
          />
          {open !== '' && (
            <SessionPanel key={open} memory={memory} session={open} onClose={() => query.set({ session: undefined })} />
          )}
        </div>
      )}
      {list.isPaused && (
        <div class="buttons">
          <button type="button" onClick={list.more}>
            Look through {count(PAGES_AT_ONCE * PAGE_SIZE)} more grains
          </button>
        </div>
      )}
      <ListFoot list={list} one="session" what="sessions" />
    </PageFrame>
  );
}

interface Filter {
  readonly user: string;
  readonly namespace: string;
}

/** The server has no list of sessions: they are gathered from the grains, newest first, page by page. */
function useSessions(memory: string, { user, namespace }: Filter): RowList<Row> {
  const { client } = useSession();
  const seen = useRef(new Map<string, Row>());
  return useList<Row>(JSON.stringify([memory, user, namespace]), async (cursor, signal) => {
    if (cursor === undefined) seen.current = new Map();
    const known = seen.current;
    const found: Row[] = [];
    let after = cursor;
    let pages = 0;
    // A page may belong to sessions that are known already.
    do {
      const page = await client
        .memory(memory)
        .operations.listGrains(
          { limit: PAGE_SIZE, cursor: after, userId: user || undefined, namespace: namespace || undefined },
          { signal },
        );
      found.push(...newSessions(page.grains, known));
      after = page.nextCursor ?? undefined;
      pages += 1;
    } while (after !== undefined && found.length === 0 && pages < PAGES_AT_ONCE);
    return { rows: found, cursor: after, total: undefined, isPaused: found.length === 0 };
  });
}

function newSessions(grains: Output<'listGrains'>['grains'], known: Map<string, Row>): readonly Row[] {
  const found: Row[] = [];
  for (const { fields, createdAt, text } of grains) {
    const id = fields['session_id'];
    if (typeof id !== 'string' || id === '') continue;
    const row = known.get(id);
    if (row === undefined) {
      const first: Row = { id, grains: 1, newest: createdAt, oldest: createdAt, text };
      known.set(id, first);
      found.push(first);
    } else {
      row.grains += 1;
      row.oldest = createdAt;
    }
  }
  return found;
}
