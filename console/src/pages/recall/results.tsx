// The answer of one recall: hits with their scores, and what was left out.
import type { GranaryError, Output } from 'granary-client';
import { useState } from 'preact/hooks';
import { useQuery } from '../../address.ts';
import { type Asked, useAsk } from '../../ask.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { count, counted, HashText, Time, TypeName } from '../../parts/grain.tsx';
import { Loading } from '../../parts/loading.tsx';
import { allowed, useSession } from '../../session.ts';
import { type Hit, ScoreBars, scaleOf } from './scores.tsx';

export type Answer = Output<'recall'>;

interface Props {
  readonly title: string | undefined;
  readonly memory: string;
  readonly asked: Asked<Timed>;
  /** Rank of each hit in the other answer, by hash. */
  readonly others: ReadonlyMap<string, number> | undefined;
}

/** An answer, and the time that it took. */
export interface Timed {
  readonly answer: Answer;
  readonly ms: number;
}

export function Results({ title, memory, asked, others }: Props) {
  const { value, error, isLoading, again } = asked;
  return (
    <section class="results" aria-label={title === undefined ? 'Results' : `Results of ${title}`} aria-busy={isLoading}>
      <h2>{title ?? 'Answer'}</h2>
      {error !== undefined && <Problem error={error} again={again} />}
      {isLoading && value === undefined && <Loading what="the answer" />}
      {value !== undefined && <Found memory={memory} timed={value} others={others} />}
    </section>
  );
}

function Problem({ error, again }: { readonly error: GranaryError; readonly again: () => void }) {
  return <ErrorBox error={error} again={error.retryable ? again : undefined} />;
}

interface FoundProps {
  readonly memory: string;
  readonly timed: Timed;
  readonly others: Props['others'];
}

/** How much of the question the hits hold. */
const COVERAGE: Readonly<Record<string, string>> = {
  full: 'they cover the words of the question',
  partial: 'they cover some words of the question',
  none: 'they cover no word of the question',
};

function Found({ memory, timed, others }: FoundProps) {
  const { answer, ms } = timed;
  const { results, totalCandidates, topicCoverage, warnings } = answer;
  const scale = scaleOf(results);
  return (
    <>
      <p class="faint" role="status">
        {count(results.length)} of {counted(totalCandidates, 'candidate')} in {ms.toFixed(0)} ms
        {topicCoverage !== null && `; ${COVERAGE[topicCoverage] ?? topicCoverage}`}
      </p>
      {warnings.length > 0 && (
        <ul class="notes">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {results.length === 0 && <p>Nothing was found.</p>}
      <ol class="hits">
        {results.map((hit, at) => (
          <HitItem key={hit.hash} hit={hit} rank={at + 1} scale={scale} other={others && (others.get(hit.hash) ?? 0)} />
        ))}
      </ol>
      <LeftOut memory={memory} answer={answer} />
    </>
  );
}

interface HitProps {
  readonly hit: Hit;
  readonly rank: number;
  readonly scale: number;
  /** Rank in the other answer; 0 where it is not there, undefined without another answer. */
  readonly other: number | undefined;
}

function HitItem({ hit, rank, scale, other }: HitProps) {
  const query = useQuery();
  return (
    <li class="hit">
      <p class="hit-head">
        <b class="rank">{rank}</b>
        {other !== undefined && <Move rank={rank} other={other} />}
        <TypeName type={hit.grainType} />
        <a href={query.with({ grain: hit.hash })}>
          <HashText hash={hit.hash} />
        </a>
        <span class="faint">
          <Time at={hit.createdAt} />
        </span>
        {hit.recallSource !== 'primary' && <span class="faint">by {hit.recallSource}</span>}
      </p>
      <p class="hit-text" dir="auto">
        {hit.text}
      </p>
      <ScoreBars hit={hit} scale={scale} />
      {hit.explanation !== undefined && <p class="faint explanation">{hit.explanation}</p>}
    </li>
  );
}

/** How far a hit is from its place in the other answer. */
function Move({ rank, other }: { readonly rank: number; readonly other: number }) {
  if (other === 0) return <span class="move only">only here</span>;
  if (other === rank) return <span class="move">same place</span>;
  const up = other - rank;
  return <span class={up > 0 ? 'move up' : 'move down'}>{up > 0 ? `▲ ${up}` : `▼ ${-up}`}</span>;
}

interface LeftOutProps {
  readonly memory: string;
  readonly answer: Answer;
}

function LeftOut({ memory, answer }: LeftOutProps) {
  const counts = Object.entries(answer.excluded ?? {});
  const [wantsEach, setWantsEach] = useState(false);
  const { recallId } = answer;
  const mayEach = recallId !== undefined && allowed.value.has('getProvenance');
  return (
    <section class="section left-out">
      <h3>Left out</h3>
      {counts.length === 0 && <p class="faint">Every candidate is in the answer.</p>}
      <dl class="facts">
        {counts.map(([reason, number]) => (
          <div key={reason} class="fact">
            <dt>{reason.replaceAll('_', ' ')}</dt>
            <dd>{count(number)}</dd>
          </div>
        ))}
      </dl>
      {counts.length > 0 && mayEach && !wantsEach && (
        <button type="button" class="small" onClick={() => setWantsEach(true)}>
          Show which and why
        </button>
      )}
      {counts.length > 0 && !mayEach && <p class="faint">Set record provenance to see each of them with its reason.</p>}
      {wantsEach && recallId !== undefined && <EachLeftOut memory={memory} recallId={recallId} />}
    </section>
  );
}

function EachLeftOut({ memory, recallId }: { readonly memory: string; readonly recallId: string }) {
  const { client } = useSession();
  const query = useQuery();
  const { value, error, again } = useAsk(recallId, (signal) =>
    client.memory(memory).operations.getProvenance({ recallId, explain: true }, { signal }),
  );
  if (error !== undefined) return <ErrorBox error={error} again={again} />;
  if (value === undefined) return <Loading what="the record" />;
  return (
    <ul class="plain-list">
      {value.excluded.map(({ grain, hash = '', reason, explanation }, at) => (
        <li key={grain ?? at}>
          {hash === '' ? (
            <span class="faint">a removed grain</span>
          ) : (
            <a href={query.with({ grain: hash })}>
              <HashText hash={hash} />
            </a>
          )}{' '}
          {explanation ?? reason}
        </li>
      ))}
    </ul>
  );
}
