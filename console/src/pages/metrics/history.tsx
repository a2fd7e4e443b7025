import type { Output } from 'granary-client';
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type AddressQuery, useQuery } from '../../address.ts';
import { type Asked, useAsk } from '../../ask.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { counted } from '../../parts/grain.tsx';
import { allowed, useSession } from '../../session.ts';
import { shade } from '../../theme.ts';
import './metrics.css';

const HEIGHT_PX = 180;

/** Asks for the history in the interval of the address, where the caller may. */
export function useHistory(memory: string): Asked<Output<'statsHistory'>> {
  const { client } = useSession();
  const interval = intervalOf(useQuery());
  return useAsk(allowed.value.has('statsHistory') ? `${memory} ${interval}` : undefined, (signal) =>
    client.memory(memory).operations.statsHistory({ interval }, { signal }),
  );
}

function intervalOf(query: AddressQuery): 'day' | 'hour' {
  return query.one('interval') === 'day' ? 'day' : 'hour';
}

/** The number of grains and the bytes on disk over time. */
export function History({ of: { value, error, again } }: { readonly of: Asked<Output<'statsHistory'>> }) {
  const query = useQuery();
  const interval = intervalOf(query);
  if (error !== undefined) return <ErrorBox error={error} again={again} />;
  const points = value?.points ?? [];
  const times = points.map(({ timestamp }) => timestamp.getTime() / 1000);
  return (
    <section class="section">
      <div class="buttons chart-head">
        <h2>Over time</h2>
        {(['hour', 'day'] as const).map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={interval === one}
            onClick={() => query.set({ interval: one === 'hour' ? undefined : one })}
          >
            By {one}
          </button>
        ))}
      </div>
      {points.length < 2 ? (
        <p role="status">
          {value === undefined ? 'Loading the history…' : 'The history begins with the second sample.'}
        </p>
      ) : (
        <div class="charts">
          <Chart title="Grains" times={times} values={points.map(({ totalGrains }) => totalGrains)} />
          <Chart title="Megabytes on disk" times={times} values={points.map((one) => one.diskSpaceBytes / 1e6)} />
        </div>
      )}
    </section>
  );
}

interface ChartProps {
  readonly title: string;
  /** In epoch seconds, ascending. */
  readonly times: number[];
  readonly values: number[];
}

function Chart({ title, times, values }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const key = JSON.stringify([times, values, shade.value]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const style = getComputedStyle(element);
    const [text, line, accent] = ['--soft', '--line', '--accent'].map((name) => colourOf(style, name)) as [
      string,
      string,
      string,
    ];
    const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const chart = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT_PX,
        legend: { show: false },
        cursor: { y: false },
        series: [{}, { label: title, stroke: accent, width: 2, points: { show: times.length < 40 } }],
        axes: [axis, { ...axis, size: 64 }],
      },
      [times, values],
      element,
    );
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [key, title]);
  const last = values.at(-1) ?? 0;
  const said = `${title}: ${last.toLocaleString('en', { maximumFractionDigits: 1 })} now, of ${counted(values.length, 'sample')}`;
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div ref={place} role="img" aria-label={said} />
    </figure>
  );
}

/** The colour that a token has in the present theme: a canvas does not know `light-dark()`. */
function colourOf(style: CSSStyleDeclaration, token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color === '' ? style.color : color;
}
