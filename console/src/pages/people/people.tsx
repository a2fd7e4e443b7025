import type { Output } from 'granary-client';
import { useMemoryId, useQuery } from '../../address.ts';
import { useList } from '../../list.ts';
import type { PageProps } from '../../page.ts';
import { Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Filters, TextFilter } from '../../parts/filters.tsx';
import { ListFoot } from '../../parts/list-foot.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx';
import { SERVER } from '../../place.ts';
import { allowed, useSession } from '../../session.ts';
import { PersonPanel } from './person-panel.tsx';
import { Requests } from './requests.tsx';

type Person = Output<'consentStatus'>['users'][number];

const COLUMNS: readonly Column<Person>[] = [
  { title: 'User', width: 'minmax(8rem, 1fr)', cell: ({ userId }) => <b dir="auto">{userId}</b> },
  {
    title: 'Consents',
    width: 'minmax(8rem, 2fr)',
    cell: ({ purposes }) => purposes.map(({ purpose, status }) => `${purpose}: ${status}`).join(', '),
  },
  {
    title: 'Processing',
    width: '8rem',
    cell: ({ restricted }) => (restricted ? <span class="bad">restricted</span> : <span class="good">allowed</span>),
  },
];

const PAGE_SIZE = 200;
const FILTERS = ['user', 'purpose'] as const;

export default function People({ page }: PageProps) {
  const memory = useMemoryId();
  const query = useQuery();
  const { client } = useSession();
  const [userId, purpose] = [query.one('user') || undefined, query.one('purpose') || undefined];
  const list = useList<Person>(JSON.stringify([memory, userId, purpose]), async (cursor, signal) => {
    const page = await client
      .memory(memory)
      .operations.consentStatus({ userId, purpose, limit: PAGE_SIZE, cursor }, { signal });
    return { rows: page.users, cursor: page.nextCursor ?? undefined, total: page.total ?? undefined };
  });
  const open = query.one('person');
  return (
    <PageFrame page={page} fills>
      {allowed.value.has('listSubjectRequests') && <Requests memory={memory} />}
      <Filters names={FILTERS}>
        <TextFilter name="user" label="User" />
        <TextFilter name="purpose" label="Purpose" />
        {userId !== undefined && (
          <button type="button" onClick={() => query.set({ person: userId })}>
            Show {userId}
          </button>
        )}
      </Filters>
      {list.error !== undefined && <ErrorBox error={list.error} again={list.again} />}
      {list.isComplete && list.rows.length === 0 && open === '' ? (
        <Nobody memory={memory} userId={userId} />
      ) : (
        <div class="split">
          <VirtualTable
            label="People"
            columns={COLUMNS}
            rows={list.rows}
            keyOf={(person) => person.userId}
            open={open}
            onOpen={(person) => query.set({ person: person.userId })}
            onEnd={list.more}
            total={list.total}
          />
          {open !== '' && (
            <PersonPanel
              key={open}
              memory={memory}
              userId={open}
              onClose={() => query.set({ person: undefined })}
              onChanged={list.again}
            />
          )}
        </div>
      )}
      <ListFoot list={list} one="person" what="people" />
    </PageFrame>
  );
}

function Nobody({ memory, userId }: { readonly memory: string; readonly userId: string | undefined }) {
  if (userId !== undefined)
    return (
      <Empty title={`No consent or restriction of ${userId} is on record`}>
        “Show {userId}” has what this memory holds about the person.
      </Empty>
    );
  const call = `curl ${SERVER}api/memories/${encodeURIComponent(memory)}/consent/grant \\
  -H "authorization: Bearer $GRANARY_API_KEY" -H "content-type: application/json" \\
  -d '{"user_id": "ada", "purpose": "personalization"}'`;
  return (
    <Empty title="No consent is on record" call={call}>
      People are listed once they consented, withdrew, or were restricted. Any other person can be opened by the user's
      id, above. This call records a consent:
    </Empty>
  );
}
