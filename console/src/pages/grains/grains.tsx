import type { GrainType, Input, Output } from 'granary-client';
import { type AddressQuery, useMemoryId, useQuery } from '../../address.ts';
import { type RowList, useList } from '../../list.ts';
import type { PageProps } from '../../page.ts';
import { Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import {
  ChoiceFilter,
  DayFilter,
  dayEnd,
  dayStart,
  Filters,
  SwitchFilter,
  TextFilter,
  wordsOf,
} from '../../parts/filters.tsx';
import { GRAIN_TYPES, Time, TypeName } from '../../parts/grain.tsx';
import { GrainPanel } from '../../parts/grain-panel/grain-panel.tsx';
import { ListFoot } from '../../parts/list-foot.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx';
import { SERVER } from '../../place.ts';
import { useSession } from '../../session.ts';

/** A row holds only what it shows: there may be a hundred thousand of them. */
interface Row {
  readonly hash: string;
  readonly type: GrainType;
  readonly text: string;
  readonly namespace: string;
  readonly user: string;
  readonly createdAt: Date;
  readonly isOld: boolean;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Type', width: '6.5rem', cell: ({ type }) => <TypeName type={type} /> },
  {
    title: 'Text',
    width: 'minmax(10rem, 1fr)',
    cell: ({ text, isOld }) => (
      <span dir="auto" class={isOld ? 'old-version' : undefined}>
        {text}
      </span>
    ),
  },
  { title: 'Namespace', width: '8rem', cell: ({ namespace }) => namespace, isMinor: true },
  { title: 'User', width: '8rem', cell: ({ user }) => user, isMinor: true },
  { title: 'Created', width: '7.5rem', cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
];

/** A page is read in one task of the browser: a larger one would hold up scrolling. */
const PAGE_SIZE = 200;
const FILTERS = ['type', 'user', 'namespace', 'tag', 'session', 'subject', 'from', 'to', 'old'] as const;

export default function Grains({ page }: PageProps) {
  const memory = useMemoryId();
  const query = useQuery();
  const list = useGrainRows(memory, query);
  const open = query.one('grain');
  const isFiltered = FILTERS.some((name) => query.one(name) !== '');
  return (
    <PageFrame page={page} fills>
      <Filters names={FILTERS}>
        <ChoiceFilter name="type" label="Type" choices={GRAIN_TYPES} none="All types" />
        <TextFilter name="user" label="User" />
        <TextFilter name="namespace" label="Namespace" />
        <TextFilter name="tag" label="Tag" />
        <TextFilter name="subject" label="Subject" />
        <TextFilter name="session" label="Session" />
        <DayFilter name="from" label="From" />
        <DayFilter name="to" label="To" />
        <SwitchFilter name="old" label="Old versions" />
      </Filters>
      {list.error !== undefined && <ErrorBox error={list.error} again={list.again} />}
      {list.isComplete && list.rows.length === 0 && open === '' ? (
        <Nothing memory={memory} isFiltered={isFiltered} />
      ) : (
        <div class="split">
          <VirtualTable
            label="Grains"
            columns={COLUMNS}
            rows={list.rows}
            keyOf={({ hash }) => hash}
            open={open}
            onOpen={({ hash }) => query.set({ grain: hash })}
            onEnd={list.more}
            total={list.total}
          />
          {open !== '' && (
            <GrainPanel
              key={open}
              memory={memory}
              hash={open}
              onClose={() => query.set({ grain: undefined })}
              onChanged={(next) => {
                query.set({ grain: next });
                list.again();
              }}
            />
          )}
        </div>
      )}
      <ListFoot list={list} one="grain" what="grains" />
    </PageFrame>
  );
}

function useGrainRows(memory: string, query: AddressQuery): RowList<Row> {
  const { client } = useSession();
  const filter = filterOf(query);
  return useList<Row>(JSON.stringify([memory, filter]), async (cursor, signal) => {
    const page = await client.memory(memory).operations.listGrains({ ...filter, limit: PAGE_SIZE, cursor }, { signal });
    return { rows: page.grains.map(rowOf), cursor: page.nextCursor ?? undefined, total: page.total ?? undefined };
  });
}

function filterOf(query: AddressQuery): Input<'listGrains'> {
  const text = (name: string): string | undefined => query.one(name) || undefined;
  const type = text('type');
  return {
    grainType: type === undefined ? undefined : [type as GrainType], // the server checks it
    userId: text('user'),
    namespace: text('namespace'),
    subject: text('subject'),
    sessionId: text('session'),
    tag: wordsOf(query.one('tag')),
    createdAfter: dayStart(query.one('from')),
    createdBefore: dayEnd(query.one('to')),
    includeSuperseded: query.one('old') === '1' || undefined,
  };
}

type ListedGrain = Output<'listGrains'>['grains'][number];

function rowOf({ hash, grainType, text, namespace, userId = '', createdAt, versionStatus }: ListedGrain): Row {
  return { hash, type: grainType, text, namespace, user: userId, createdAt, isOld: versionStatus === 'superseded' };
}

function Nothing({ memory, isFiltered }: { readonly memory: string; readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No grain fits these filters">Clear a filter to see more.</Empty>;
  const at = `${SERVER}api/memories/${encodeURIComponent(memory)}`;
  const call = `curl ${at}/remember \\
  -H "authorization: Bearer $GRANARY_API_KEY" -H "content-type: application/json" \\
  -d '{"text": "Ada moved to Oslo in May and drinks green tea.", "user_id": "ada"}'`;
  return (
    <Empty title="This memory is empty" call={call}>
      This call stores a text, and the facts that it states as beliefs:
    </Empty>
  );
}
