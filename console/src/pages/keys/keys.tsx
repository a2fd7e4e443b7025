import type { Output } from 'granary-client';
import { useState } from 'preact/hooks';
import { useQuery } from '../../address.ts';
import { useList } from '../../list.ts';
import type { PageProps } from '../../page.ts';
import { Fact, Facts } from '../../parts/cards.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ExactTime, Time } from '../../parts/grain.tsx';
import { ListFoot } from '../../parts/list-foot.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx';
import { SERVER } from '../../place.ts';
import { allowed, useSession } from '../../session.ts';
import { shownOnce } from '../../unsaved.ts';
import { NewKey } from './new-key.tsx';

type Key = Output<'listKeys'>['keys'][number];

const COLUMNS: readonly Column<Key>[] = [
  { title: 'Name', width: 'minmax(7rem, 1fr)', cell: ({ name }) => <b>{name}</b> },
  { title: 'Begins with', width: '7.5rem', cell: ({ prefix }) => <code>{prefix}</code>, isMinor: true },
  { title: 'Scopes', width: 'minmax(7rem, 1fr)', cell: ({ scopes }) => scopes.join(', '), isMinor: true },
  { title: 'Memory', width: 'minmax(6rem, 1fr)', cell: ({ memoryId }) => memoryId ?? 'all', isMinor: true },
  { title: 'State', width: '6rem', cell: (key) => <State of={key} /> },
  {
    title: 'Last used',
    width: '8rem',
    cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? 'never' : <Time at={lastUsedAt} />),
    isMinor: true,
  },
];

const PAGE_SIZE = 200;

export default function Keys({ page }: PageProps) {
  const { client } = useSession();
  const query = useQuery();
  const list = useList<Key>('keys', async (cursor, signal) => {
    const page = await client.operations.listKeys({ limit: PAGE_SIZE, cursor }, { signal });
    return { rows: page.keys, cursor: page.nextCursor ?? undefined, total: page.total ?? undefined };
  });
  const open = query.one('key');
  const shown = list.rows.find(({ keyId }) => keyId === open);
  return (
    <PageFrame
      page={page}
      fills
      actions={
        allowed.value.has('createKey') && (
          <button type="button" class="primary" onClick={() => query.set({ new: '1' })}>
            New key
          </button>
        )
      }
    >
      {list.error !== undefined && <ErrorBox error={list.error} again={list.again} />}
      {list.isComplete && list.rows.length === 0 ? (
        <Empty
          title="There is no key yet"
          call={`curl -X POST ${SERVER}api/auth/keys -d '{"name": "agent", "scopes": ["read", "write"]}'`}
        >
          A key says who calls and what it may do. This call makes one:
        </Empty>
      ) : (
        <div class="split">
          <VirtualTable
            label="Keys"
            columns={COLUMNS}
            rows={list.rows}
            keyOf={({ keyId }) => keyId}
            open={open}
            onOpen={({ keyId }) => query.set({ key: keyId })}
            onEnd={list.more}
            total={list.total}
          />
          {shown !== undefined && (
            <KeyPanel of={shown} onClose={() => query.set({ key: undefined })} onRevoked={list.again} />
          )}
        </div>
      )}
      <ListFoot list={list} one="key" what="keys" />
      {query.one('new') === '1' && shownOnce.value === undefined && (
        <NewKey onClose={() => query.set({ new: undefined })} onMade={list.again} />
      )}
    </PageFrame>
  );
}

function State({ of: { revokedAt, expiresAt } }: { readonly of: Key }) {
  if (revokedAt !== undefined) return <span class="bad">revoked</span>;
  if (expiresAt !== undefined && expiresAt.getTime() <= Date.now()) return <span class="bad">expired</span>;
  return <span class="good">valid</span>;
}

interface PanelProps {
  readonly of: Key;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}

function KeyPanel({ of: key, onClose, onRevoked }: PanelProps) {
  const { client, caller } = useSession();
  const [isRevoking, setRevoking] = useState(false);
  const { keyId, name, principal, scopes, prefix, createdAt, memoryId, namespace, userId } = key;
  const { expiresAt, lastUsedAt, revokedAt } = key;
  const isOwn = caller.keyId === keyId;
  return (
    <Panel title={name} label={`Key ${name}`} onClose={onClose}>
      {revokedAt === undefined && allowed.value.has('revokeKey') && (
        <div class="buttons">
          <button type="button" class="danger" onClick={() => setRevoking(true)}>
            Revoke…
          </button>
        </div>
      )}
      <Facts>
        <Fact name="Id">{keyId}</Fact>
        <Fact name="Begins with">{prefix}</Fact>
        <Fact name="Principal">{principal}</Fact>
        <Fact name="Scopes">{scopes.join(', ')}</Fact>
        <Fact name="Memory">{memoryId ?? 'all'}</Fact>
        <Fact name="Namespace">{namespace ?? 'all'}</Fact>
        <Fact name="User">{userId ?? 'all'}</Fact>
        <Fact name="Made">
          <ExactTime at={createdAt} />
        </Fact>
        <Fact name="Last used">{lastUsedAt === undefined ? 'never' : <ExactTime at={lastUsedAt} />}</Fact>
        <Fact name="Expires">{expiresAt === undefined ? 'never' : <ExactTime at={expiresAt} />}</Fact>
        {revokedAt !== undefined && (
          <Fact name="Revoked">
            <ExactTime at={revokedAt} />
          </Fact>
        )}
      </Facts>
      {isRevoking && (
        <Confirm
          title={`Revoke the key ${name}?`}
          action={`Revoke ${name}`}
          name={name}
          counts={[
            { label: 'Scopes', value: scopes.join(', ') },
            { label: 'Memories', value: memoryId ?? 'all' },
          ]}
          act={async () => {
            await client.operations.revokeKey({ keyId });
            onRevoked();
          }}
          onClose={() => setRevoking(false)}
        >
          <p>
            The next call with it fails.
            {isOwn ? ' You are signed in with this key: you will have to sign in again.' : ''}
          </p>
        </Confirm>
      )}
    </Panel>
  );
}
