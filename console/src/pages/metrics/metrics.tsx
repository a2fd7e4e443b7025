import type { Output } from 'granary-client';
import { useMemoryId, useQuery } from '../../address.ts';
import { useAsk } from '../../ask.ts';
import type { PageProps } from '../../page.ts';
import { Card, Cards } from '../../parts/cards.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ChoiceFilter, Filters } from '../../parts/filters.tsx';
import { count, counted } from '../../parts/grain.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx';
import { allowed, useSession } from '../../session.ts';
import { History, useHistory } from './history.tsx';

type Metric = Output<'memoryMetrics'>['metrics'][number];

/** Unit of a metric that says whether something is so. */
const YES_OR_NO = '1 or 0';

const COLUMNS: readonly Column<Metric>[] = [
  {
    title: 'Metric',
    width: 'minmax(7.75rem, 2fr)',
    cell: ({ label, id }) => <span title={`${label} (${id})`}>{label}</span>,
  },
  { title: 'Value', width: '6.5rem', cell: ({ value, unit }) => <b>{valueText(value, unit)}</b>, isNumber: true },
  { title: 'State', width: '6.75rem', cell: (metric) => <State of={metric} /> },
  {
    title: 'Limits: green, yellow',
    width: '12rem',
    cell: ({ green, yellow, direction, unit }) =>
      unit === YES_OR_NO
        ? valueText(green, unit)
        : `${direction === 'lower' ? '≤' : '≥'} ${valueText(green, '')}, ${valueText(yellow, unit)}`,
    isMinor: true,
  },
  { title: 'Samples', width: '6rem', cell: ({ samples }) => count(samples), isMinor: true, isNumber: true },
];

const FILTERS = ['domain', 'state'] as const;

export default function Metrics({ page }: PageProps) {
  const memory = useMemoryId();
  const query = useQuery();
  const { client } = useSession();
  const { value, error, isLoading, again } = useAsk(memory, (signal) =>
    client.memory(memory).operations.memoryMetrics({ domain: 'all' }, { signal }),
  );
  const history = useHistory(memory);
  const refresh = (): void => {
    again();
    history.again();
  };
  const [domain, state] = [query.one('domain'), query.one('state')];
  const rows = (value?.metrics ?? []).filter(
    (one) => (domain === '' || one.domain === domain) && (state === '' || one.status === state),
  );
  return (
    <PageFrame
      page={page}
      fills
      actions={
        <button type="button" onClick={refresh}>
          <Icon name="again" /> Refresh
        </button>
      }
    >
      {error !== undefined && <ErrorBox error={error} again={again} />}
      {isLoading && value === undefined && <Loading what="the metrics" />}
      {value !== undefined && (
        <>
          <Cards>
            <Card label="Green">{count(value.green)}</Card>
            <Card label="Yellow">{count(value.yellow)}</Card>
            <Card label="Red">{count(value.red)}</Card>
            <Card label="Not computed">{count(value.notComputed)}</Card>
          </Cards>
          {allowed.value.has('statsHistory') && <History of={history} />}
          <Filters names={FILTERS}>
            <ChoiceFilter name="domain" label="Domain" choices={['ops', 'intel']} none="All domains" />
            <ChoiceFilter
              name="state"
              label="State"
              choices={['green', 'yellow', 'red', 'not_computed']}
              none="All states"
            />
          </Filters>
          <VirtualTable label="Metrics" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
          <p class="table-foot" role="status">{`${rows.length} of ${counted(value.total, 'metric')}`}</p>
        </>
      )}
    </PageFrame>
  );
}

function State({ of: { status, reason } }: { readonly of: Metric }) {
  if (status === 'not_computed') return <span title={reason}>not computed</span>;
  return <span class={status === 'green' ? 'good' : status === 'yellow' ? 'warn' : 'bad'}>{status}</span>;
}

function valueText(value: number | null, unit: string): string {
  if (value === null) return '–';
  if (unit === YES_OR_NO) return value === 1 ? 'yes' : 'no';
  const number = value.toLocaleString('en', { maximumFractionDigits: 2 });
  return unit === '' ? number : `${number} ${unit}`;
}
