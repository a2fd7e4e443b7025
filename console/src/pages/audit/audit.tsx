import type { Input, Output } from 'granary-client';
import { useState } from 'preact/hooks';
import { type AddressQuery, useMemoryId, useQuery } from '../../address.ts';
import { useAsk, useDo } from '../../ask.ts';
import { useList } from '../../list.ts';
import type { PageProps } from '../../page.ts';
import { Fact, Facts } from '../../parts/cards.tsx';
import { Code, Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { DayFilter, dayEnd, dayStart, Filters, TextFilter, wordsOf } from '../../parts/filters.tsx';
import { count, counted, ExactTime, HashText, Time } from '../../parts/grain.tsx';
import { ListFoot } from '../../parts/list-foot.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx';
import { allowed, useSession } from '../../session.ts';

type Entry = Output<'audit'>['entries'][number];

const COLUMNS: readonly Column<Entry>[] = [
  { title: 'Time', width: '8rem', cell: ({ timestamp }) => <Time at={timestamp} /> },
  { title: 'Event', width: 'minmax(8rem, 1fr)', cell: ({ eventType }) => <code>{eventType}</code> },
  { title: 'Actor', width: 'minmax(8rem, 1fr)', cell: ({ actor }) => actor, isMinor: true },
  { title: 'Subject', width: 'minmax(8rem, 1fr)', cell: ({ subject }) => subject, isMinor: true },
  { title: 'Entry', width: '8rem', cell: ({ hash }) => <HashText hash={hash} />, isMinor: true },
];

const PAGE_SIZE = 200;
const FILTERS = ['event', 'actor', 'user', 'grain', 'from', 'to'] as const;

export default function Audit({ page }: PageProps) {
  const memory = useMemoryId();
  const query = useQuery();
  const { client } = useSession();
  const filter = filterOf(query);
  const list = useList<Entry>(JSON.stringify([memory, filter]), async (cursor, signal) => {
    const page = await client.memory(memory).operations.audit({ ...filter, limit: PAGE_SIZE, cursor }, { signal });
    return { rows: page.entries, cursor: page.nextCursor ?? undefined, total: page.total ?? undefined };
  });
  const open = query.one('entry');
  const listed = list.rows.find((row) => nameOf(row) === open);
  const place = placeOf(listed === undefined ? open : '');
  // An address may name an entry that is not in the list, or not on its first pages.
  const other = useAsk(place && `${memory} audit ${open}`, (signal) =>
    client.memory(memory).operations.audit({ ...place }, { signal }),
  );
  const entry = listed ?? other.value?.entries[0];
  const isFiltered = FILTERS.some((name) => query.one(name) !== '');
  return (
    <PageFrame page={page} fills actions={allowed.value.has('verifyAuditChain') && <Verify memory={memory} />}>
      <Filters names={FILTERS}>
        <TextFilter name="event" label="Event" placeholder="memory.*" />
        <TextFilter name="actor" label="Actor" />
        <TextFilter name="user" label="User" />
        <TextFilter name="grain" label="Grain hash" />
        <DayFilter name="from" label="From" />
        <DayFilter name="to" label="To" />
      </Filters>
      {list.error !== undefined && <ErrorBox error={list.error} again={list.again} />}
      {other.error !== undefined && <ErrorBox error={other.error} again={other.again} />}
      {place !== undefined && other.value?.entries.length === 0 && <p role="alert">{`There is no entry ${open}.`}</p>}
      {list.isComplete && list.rows.length === 0 && entry === undefined ? (
        <Empty title={isFiltered ? 'No entry fits these filters' : 'The trail is empty'}>
          {isFiltered
            ? 'Clear a filter to see more.'
            : 'Every write leaves an entry. Reads leave one if the policy says so.'}
        </Empty>
      ) : (
        <div class="split">
          <VirtualTable
            label="Audit entries"
            columns={COLUMNS}
            rows={list.rows}
            keyOf={nameOf}
            open={open}
            onOpen={(row) => query.set({ entry: nameOf(row) })}
            onEnd={list.more}
            total={list.total}
          />
          {entry !== undefined && <EntryPanel entry={entry} onClose={() => query.set({ entry: undefined })} />}
        </div>
      )}
      <ListFoot list={list} one="entry" what="entries" />
    </PageFrame>
  );
}

/** Partition and number of an entry, as the address has them; a bound caller sees no numbers. */
function nameOf({ partition, seq, hash }: Entry): string {
  return seq === undefined ? hash : `${partition}-${seq}`;
}

function placeOf(name: string): { readonly partition: number; readonly seq: number } | undefined {
  const [, partition, seq] = /^(\d{1,3})-([1-9]\d{0,14})$/.exec(name) ?? [];
  return seq === undefined ? undefined : { partition: Number(partition), seq: Number(seq) };
}

function filterOf(query: AddressQuery): Input<'audit'> {
  const text = (name: string): string | undefined => query.one(name) || undefined;
  return {
    eventType: wordsOf(query.one('event')),
    actor: text('actor'),
    user: text('user'),
    grainHash: text('grain'),
    since: dayStart(query.one('from')),
    until: dayEnd(query.one('to')),
  };
}

function EntryPanel({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  const { eventType, timestamp, actor, subject, grainHash, details, seq, partition, hash, prevHash } = entry;
  return (
    <Panel title={<code>{eventType}</code>} label={`Entry ${eventType}`} onClose={onClose}>
      <Facts>
        <Fact name="Time">
          <ExactTime at={timestamp} />
        </Fact>
        <Fact name="Actor">{actor}</Fact>
        <Fact name="Subject">{subject === '' ? '–' : subject}</Fact>
        {grainHash !== undefined && <Fact name="Grain">{grainHash}</Fact>}
        {seq !== undefined && <Fact name="Number">{`${count(seq)} of partition ${partition}`}</Fact>}
        <Fact name="Hash">{hash}</Fact>
        <Fact name="Hash before">{prevHash}</Fact>
      </Facts>
      <h3>Details</h3>
      <Code text={JSON.stringify(details, null, 2)} what="the details" />
    </Panel>
  );
}

function Verify({ memory }: { readonly memory: string }) {
  const { client } = useSession();
  const [result, setResult] = useState<Output<'verifyAuditChain'>>();
  const doing = useDo(async () => setResult(await client.memory(memory).operations.verifyAuditChain({})));
  return (
    <>
      {result !== undefined && (
        <span role="status" class={result.valid ? 'good' : 'bad'}>
          {result.valid
            ? `${counted(result.checked, 'entry forms', 'entries form')} an intact chain`
            : `Entry ${result.firstBadSeq} of partition ${result.partition} does not match its predecessor`}
        </span>
      )}
      {doing.error !== undefined && <ErrorBox error={doing.error} />}
      <button type="button" disabled={doing.isRunning} onClick={() => void doing.run()}>
        {doing.isRunning ? 'Verifying…' : 'Verify the chain'}
      </button>
    </>
  );
}
