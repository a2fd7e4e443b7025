// Who recalled a grain, and what the audit trail says of it. Both are asked for when the reader wants them.
import type { Granary } from 'granary-client';
import { useState } from 'preact/hooks';
import { useAsk } from '../../ask.ts';
import { allowed, useSession } from '../../session.ts';
import { ErrorBox } from '../error-box.tsx';
import { type Grain, Time } from '../grain.tsx';
import { Loading } from '../loading.tsx';

/** Recall records name grains each by itself, so the latest ones are looked through. */
const RECALLS_LOOKED_THROUGH = 100;
/** Requests at once. */
const AT_ONCE = 6;
const AUDIT_SHOWN = 50;

interface Props {
  readonly memory: string;
  readonly grain: Grain;
}

export function Trail({ memory, grain }: Props) {
  const [wants, setWants] = useState<'recalls' | 'audit'>();
  const mayRecalls = allowed.value.has('listProvenance') && allowed.value.has('getProvenance');
  const mayAudit = allowed.value.has('audit');
  if (!mayRecalls && !mayAudit) return null;
  return (
    <section class="section">
      <h3>Trail</h3>
      <div class="buttons">
        {mayRecalls && (
          <button type="button" aria-pressed={wants === 'recalls'} onClick={() => setWants('recalls')}>
            Who recalled it
          </button>
        )}
        {mayAudit && (
          <button type="button" aria-pressed={wants === 'audit'} onClick={() => setWants('audit')}>
            Audit entries
          </button>
        )}
      </div>
      {wants === 'recalls' && <Recalls memory={memory} grain={grain} />}
      {wants === 'audit' && <Audit memory={memory} grain={grain} />}
    </section>
  );
}

interface RecallOf {
  readonly id: string;
  readonly at: Date;
  readonly by: string;
  readonly mode: string;
  readonly rank: number;
}

async function recallsOf(client: Granary, { memory, grain }: Props, signal: AbortSignal): Promise<readonly RecallOf[]> {
  const { operations } = client.memory(memory);
  const { records } = await operations.listProvenance({ limit: RECALLS_LOOKED_THROUGH }, { signal });
  const found: RecallOf[] = [];
  const left = records.filter(({ resultCount }) => resultCount > 0);
  const look = async (): Promise<void> => {
    for (let record = left.shift(); record !== undefined; record = left.shift()) {
      const { recallId, timestamp, principal, queryMode } = record;
      const { results } = await operations.getProvenance({ recallId }, { signal });
      const result = results.find(({ hash }) => hash === grain.hash);
      if (result !== undefined)
        found.push({ id: recallId, at: timestamp, by: principal, mode: queryMode, rank: result.rank });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, look));
  return found.toSorted((one, other) => other.at.getTime() - one.at.getTime());
}

function Recalls(props: Props) {
  const { client } = useSession();
  const { value, error, again } = useAsk(`${props.memory} ${props.grain.hash} recalls`, (signal) =>
    recallsOf(client, props, signal),
  );
  if (error !== undefined) return <ErrorBox error={error} again={again} />;
  if (value === undefined) return <Loading what="recalls" />;
  if (value.length === 0)
    return (
      <p class="faint">
        None of the last {RECALLS_LOOKED_THROUGH} recalls on record found it. Recalls leave a record where the policy or
        the request asks for it.
      </p>
    );
  return (
    <ul class="plain-list">
      {value.map(({ id, at, by, mode, rank }) => (
        <li key={id}>
          <Time at={at} /> {by}{' '}
          <span class="faint">
            {mode}, rank {rank}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Audit({ memory, grain }: Props) {
  const { client } = useSession();
  const { value, error, again } = useAsk(`${memory} ${grain.hash} audit`, (signal) =>
    client.memory(memory).operations.audit({ grainHash: grain.hash, limit: AUDIT_SHOWN }, { signal }),
  );
  if (error !== undefined) return <ErrorBox error={error} again={again} />;
  if (value === undefined) return <Loading what="audit entries" />;
  if (value.entries.length === 0) return <p class="faint">No entry of the trail names it.</p>;
  return (
    <ul class="plain-list">
      {value.entries.map(({ hash, timestamp, eventType, actor }) => (
        <li key={hash}>
          <Time at={timestamp} /> {eventType} <span class="faint">{actor}</span>
        </li>
      ))}
    </ul>
  );
}
