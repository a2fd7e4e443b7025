import type { Output } from 'granary-client';
import { useMemoryId, useQuery } from '../../address.ts';
import { useAsk, useDo } from '../../ask.ts';
import { useList } from '../../list.ts';
import type { PageProps } from '../../page.ts';
import { Card, Cards, Fact, Facts } from '../../parts/cards.tsx';
import { Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ChoiceFilter, Filters } from '../../parts/filters.tsx';
import { count, ExactTime } from '../../parts/grain.tsx';
import { ListFoot } from '../../parts/list-foot.tsx';
import { Loading } from '../../parts/loading.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx';
import { allowed, useSession } from '../../session.ts';

type Violation = Output<'complianceViolations'>['violations'][number];

const COLUMNS: readonly Column<Violation>[] = [
  {
    title: 'Severity',
    width: '6.5rem',
    cell: ({ severity }) => <span class={severityClass(severity)}>{severity}</span>,
  },
  { title: 'Check', width: 'minmax(0, 18rem)', cell: ({ id }) => <code>{id}</code>, isMinor: true },
  { title: 'What it verifies', width: 'minmax(10rem, 1fr)', cell: ({ description }) => description },
  { title: 'Group', width: '9rem', cell: ({ group }) => group, isMinor: true },
];

const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;
const FILTERS = ['severity'] as const;
const PAGE_SIZE = 100;

function severityClass(severity: string): string {
  return severity === 'critical' || severity === 'high' ? 'bad' : 'warn';
}

export default function Compliance({ page }: PageProps) {
  const memory = useMemoryId();
  const { client } = useSession();
  const query = useQuery();
  const severity = query.one('severity');
  const counts = useAsk(memory, (signal) => client.memory(memory).operations.complianceMetrics({}, { signal }));
  const list = useList<Violation>(`${memory} ${severity}`, async (cursor, signal) => {
    const page = await client
      .memory(memory)
      .operations.complianceViolations({ severity: severity || undefined, limit: PAGE_SIZE, cursor }, { signal });
    return { rows: page.violations, cursor: page.nextCursor ?? undefined, total: page.total ?? undefined };
  });
  const run = useDo(async () => {
    await client.memory(memory).operations.verifyCompliance({});
    counts.again();
    list.again();
  });
  const open = query.one('check');
  const shown = list.rows.find(({ id }) => id === open);
  return (
    <PageFrame
      page={page}
      fills
      actions={
        allowed.value.has('verifyCompliance') && (
          <button type="button" class="primary" disabled={run.isRunning} onClick={() => void run.run()}>
            {run.isRunning ? 'Checking…' : 'Run the checks'}
          </button>
        )
      }
    >
      {run.error !== undefined && <ErrorBox error={run.error} />}
      {counts.error !== undefined && <ErrorBox error={counts.error} again={counts.again} />}
      {counts.isLoading && counts.value === undefined && <Loading what="the result of the checks" />}
      {counts.value !== undefined && <Result of={counts.value} />}
      <Filters names={FILTERS}>
        <ChoiceFilter name="severity" label="Severity" choices={SEVERITIES} none="All severities" />
      </Filters>
      {list.error !== undefined && <ErrorBox error={list.error} again={list.again} />}
      {list.isComplete && list.rows.length === 0 ? (
        <Empty title={severity === '' ? 'No check fails' : `No check of severity ${severity} fails`}>
          Each check says what to do once it fails.
        </Empty>
      ) : (
        <div class="split">
          <VirtualTable
            label="Checks that fail"
            columns={COLUMNS}
            rows={list.rows}
            keyOf={({ id }) => id}
            open={open}
            onOpen={({ id }) => query.set({ check: id })}
            onEnd={list.more}
            total={list.total}
          />
          {shown !== undefined && <CheckPanel of={shown} onClose={() => query.set({ check: undefined })} />}
        </div>
      )}
      <ListFoot list={list} one="check fails" what="checks fail" />
    </PageFrame>
  );
}

function Result({ of }: { readonly of: Output<'complianceMetrics'> }) {
  const { pass, fail, warn, skip, passRate, lastRunAt, byRegulation } = of;
  return (
    <>
      <Cards>
        <Card label="Passed">{count(pass)}</Card>
        <Card label="Failed">{count(fail)}</Card>
        <Card label="Warnings">{count(warn)}</Card>
        <Card label="Do not apply">{count(skip)}</Card>
        <Card label="Pass rate">{passRate.toLocaleString('en', { style: 'percent' })}</Card>
        <Card label="Last run" isWords>
          <ExactTime at={lastRunAt} />
        </Card>
      </Cards>
      <ul class="inline-list">
        {Object.entries(byRegulation).map(([name, one]) => (
          <li key={name}>
            {name.replaceAll('_', ' ').toUpperCase()}: {one.pass} of {one.total - one.skip}
          </li>
        ))}
      </ul>
    </>
  );
}

function CheckPanel({ of: check, onClose }: { readonly of: Violation; readonly onClose: () => void }) {
  const { id, severity, group, description, detail, remediation, detectedAt, regulations } = check;
  return (
    <Panel title={id} label={`Check ${id}`} onClose={onClose}>
      <p>{description}</p>
      <h3>What to do</h3>
      <p>{remediation}</p>
      <Facts>
        <Fact name="Severity">{severity}</Fact>
        <Fact name="Group">{group}</Fact>
        <Fact name="Measured">{detail}</Fact>
        <Fact name="Found">
          <ExactTime at={detectedAt} />
        </Fact>
        <Fact name="Articles">
          {regulations.map(({ regulation, article }) => `${regulation.toUpperCase()} ${article}`).join(', ')}
        </Fact>
      </Facts>
    </Panel>
  );
}
