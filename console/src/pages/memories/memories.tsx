import { useQuery } from '../../address.ts';
import { useList } from '../../list.ts';
import type { PageProps } from '../../page.ts';
import { Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Time } from '../../parts/grain.tsx';
import { ListFoot } from '../../parts/list-foot.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx';
import { SERVER } from '../../place.ts';
import { allowed, noteMemories, useSession } from '../../session.ts';
import { MemoryPanel } from './memory-panel.tsx';
import { NewMemory } from './new-memory.tsx';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly createdAt: Date;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Id', width: 'minmax(8rem, 1fr)', cell: ({ id }) => <b>{id}</b> },
  { title: 'Name', width: 'minmax(6rem, 1fr)', cell: ({ name }) => name },
  { title: 'Description', width: 'minmax(8rem, 2fr)', cell: ({ description }) => description, isMinor: true },
  { title: 'Created', width: '8rem', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

const PAGE_SIZE = 200;

export default function Memories({ page }: PageProps) {
  const { client } = useSession();
  const query = useQuery();
  const list = useList<Row>('memories', async (cursor, signal) => {
    const page = await client.operations.listMemories({ limit: PAGE_SIZE, cursor }, { signal });
    return { rows: page.memories, cursor: page.nextCursor ?? undefined, total: page.total ?? undefined };
  });
  const open = query.one('memory');
  const isNew = query.one('new') === '1';
  return (
    <PageFrame
      page={page}
      fills
      actions={
        allowed.value.has('createMemory') && (
          <button type="button" class="primary" onClick={() => query.set({ new: '1' })}>
            New memory
          </button>
        )
      }
    >
      {list.error !== undefined && <ErrorBox error={list.error} again={list.again} />}
      {list.isComplete && list.rows.length === 0 ? (
        <Empty title="There is no memory yet" call={`curl -X POST ${SERVER}api/memories -d '{"id": "notes"}'`}>
          A memory holds the grains of one agent, team or product. This call makes one:
        </Empty>
      ) : (
        <div class="split">
          <VirtualTable
            label="Memories"
            columns={COLUMNS}
            rows={list.rows}
            keyOf={({ id }) => id}
            open={open}
            onOpen={({ id }) => query.set({ memory: id })}
            onEnd={list.more}
            total={list.total}
          />
          {open !== '' && (
            <MemoryPanel
              key={open}
              id={open}
              onClose={() => query.set({ memory: undefined })}
              onDeleted={() => {
                noteMemories(open);
                query.set({ memory: undefined });
                list.again();
              }}
            />
          )}
        </div>
      )}
      <ListFoot list={list} one="memory" what="memories" />
      {isNew && (
        <NewMemory
          onClose={() => query.set({ new: undefined })}
          onMade={(id) => {
            noteMemories(undefined);
            query.set({ new: undefined, memory: id });
            list.again();
          }}
        />
      )}
    </PageFrame>
  );
}
