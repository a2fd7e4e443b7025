// The terms of a score as bars. Terms add up to the score; a change downwards is a bar of another colour.
import type { Output } from 'granary-client';

export type Hit = Output<'recall'>['results'][number];

/** Members of the breakdown that are no terms of the sum. */
const NO_TERMS: ReadonlySet<string> = new Set(['finalScore', 'bm25Rank', 'vectorScore']);

export interface Term {
  readonly name: string;
  readonly value: number;
}

/** The terms of a hit that are not 0, in the order of the breakdown. */
export function termsOf({ scoreBreakdown }: Pick<Hit, 'scoreBreakdown'>): readonly Term[] {
  return Object.entries(scoreBreakdown ?? {})
    .filter(([name, value]) => !NO_TERMS.has(name) && typeof value === 'number' && value !== 0)
    .map(([name, value]) => ({ name: words(name), value: Number(value) }));
}

/** The greatest term of all hits, which a whole bar stands for. */
export function scaleOf(hits: readonly Hit[]): number {
  return Math.max(1e-9, ...hits.flatMap((hit) => [hit.score, ...termsOf(hit).map(({ value }) => Math.abs(value))]));
}

function words(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

interface Props {
  readonly hit: Hit;
  readonly scale: number;
}

export function ScoreBars({ hit, scale }: Props) {
  const rows = [
    { name: 'score', value: hit.score },
    ...(hit.relevance === undefined ? [] : [{ name: 'relevance', value: hit.relevance }]),
  ];
  return (
    <dl class="bars">
      {rows.map((term) => (
        <Bar key={term.name} term={term} scale={term.name === 'relevance' ? 1 : scale} isSum />
      ))}
      {termsOf(hit).map((term) => (
        <Bar key={term.name} term={term} scale={scale} />
      ))}
    </dl>
  );
}

interface BarProps {
  readonly term: Term;
  readonly scale: number;
  readonly isSum?: boolean | undefined;
}

function Bar({ term, scale, isSum }: BarProps) {
  const { name, value } = term;
  const share = Math.min(1, Math.abs(value) / scale) * 100;
  return (
    <div class={isSum === true ? 'bar sum' : 'bar'}>
      <dt>{name}</dt>
      <dd>
        <span class="bar-track" aria-hidden="true">
          <span class={value < 0 ? 'bar-fill down' : 'bar-fill'} style={{ width: `${share}%` }} />
        </span>
        <span class="bar-value">{value.toFixed(3)}</span>
      </dd>
    </div>
  );
}
