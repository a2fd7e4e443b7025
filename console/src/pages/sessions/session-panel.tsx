import type { Json } from 'granary-client';
import { addressOf } from '../../address.ts';
import { useAsk } from '../../ask.ts';
import { Fact, Facts } from '../../parts/cards.tsx';
import { Code } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { count, counted, Time, TypeName } from '../../parts/grain.tsx';
import { LongText } from '../../parts/grain-panel/field-value.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Panel } from '../../parts/panel.tsx';
import { allowed, useSession } from '../../session.ts';

const ACTIONS_SHOWN = 50;
const GRAINS_SHOWN = 100;
const GRAINS = { on: 'memory', path: 'grains' } as const;
const GOALS = { on: 'memory', path: 'goals' } as const;

interface Props {
  readonly memory: string;
  readonly session: string;
  readonly onClose: () => void;
}

export function SessionPanel({ memory, session, onClose }: Props) {
  return (
    <Panel title={session} label={`Session ${session}`} onClose={onClose}>
      <div class="buttons">
        <a class="button" href={addressOf(GRAINS, memory, { session })}>
          Its grains
        </a>
        <a class="button" href={addressOf(GOALS, memory, { session })}>
          Its goals
        </a>
      </div>
      <State memory={memory} session={session} />
      <Actions memory={memory} session={session} />
      <Turns memory={memory} session={session} />
      {allowed.value.has('sessionContext') && <Context memory={memory} session={session} />}
    </Panel>
  );
}

type PartProps = Omit<Props, 'onClose'>;

function State({ memory, session }: PartProps) {
  const { client } = useSession();
  const { value, error, again } = useAsk(`${memory} ${session} state`, (signal) =>
    client.memory(memory).operations.sessionState({ sid: session }, { signal }),
  );
  if (error !== undefined) return <ErrorBox error={error} again={again} />;
  if (value === undefined) return <Loading what="the state" />;
  if (value.state === null) return null;
  return (
    <section class="section">
      <h3>State</h3>
      <p class="faint">
        since <Time at={value.state.createdAt} />
      </p>
      <Code text={jsonOf(value.state.fields['data'] ?? value.state.fields['context_data'])} what="the state" />
    </section>
  );
}

function jsonOf(value: Json | undefined): string {
  return JSON.stringify(value ?? {}, undefined, 2);
}

function Actions({ memory, session }: PartProps) {
  const { client } = useSession();
  const { value, error, again } = useAsk(`${memory} ${session} actions`, (signal) =>
    client.memory(memory).operations.sessionActions({ sid: session, limit: ACTIONS_SHOWN }, { signal }),
  );
  if (error !== undefined) return <ErrorBox error={error} again={again} />;
  if (value === undefined || value.actions.length === 0) return null;
  return (
    <section class="section">
      <h3>{value.total === null ? 'Actions' : counted(value.total, 'action')}</h3>
      <ul class="plain-list">
        {value.actions.map(({ hash, createdAt, text, fields }) => (
          <li key={hash}>
            <Time at={createdAt} />{' '}
            <a href={addressOf(GRAINS, memory, { session, grain: hash })} dir="auto">
              {text}
            </a>
            {fields['is_error'] === true && <b class="bad"> failed</b>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The grains of the session, in the order in which they came. */
function Turns({ memory, session }: PartProps) {
  const { client } = useSession();
  const { value, error, again } = useAsk(`${memory} ${session} grains`, (signal) =>
    client.memory(memory).operations.listGrains({ sessionId: session, limit: GRAINS_SHOWN, order: 'asc' }, { signal }),
  );
  if (error !== undefined) return <ErrorBox error={error} again={again} />;
  if (value === undefined) return <Loading what="the grains" />;
  const { grains, total } = value;
  return (
    <section class="section">
      <h3>Course</h3>
      <ol class="turns">
        {grains.map(({ hash, grainType, text, createdAt }) => (
          <li key={hash}>
            <p class="hit-head">
              <TypeName type={grainType} />
              <a href={addressOf(GRAINS, memory, { session, grain: hash })}>
                <Time at={createdAt} />
              </a>
            </p>
            <LongText text={text} />
          </li>
        ))}
      </ol>
      {total !== null && total > grains.length && (
        <p class="faint">
          {count(total - grains.length)} more <a href={addressOf(GRAINS, memory, { session })}>in the list of grains</a>
        </p>
      )}
    </section>
  );
}

const CONTEXT_TOKENS = 1_000;

function Context({ memory, session }: PartProps) {
  const { client } = useSession();
  const { value, error, again } = useAsk(`${memory} ${session} context`, (signal) =>
    client
      .memory(memory)
      .operations.sessionContext({ sid: session, tokenBudget: CONTEXT_TOKENS, format: 'text' }, { signal }),
  );
  if (error !== undefined) return <ErrorBox error={error} again={again} />;
  if (value?.text === undefined) return null;
  const { estimatedTokens, tokenBudget, truncated, text } = value;
  return (
    <section class="section">
      <h3>Context for a prompt</h3>
      <Facts>
        <Fact name="Tokens">
          {count(estimatedTokens)} of {count(tokenBudget)}
          {truncated && ', shortened'}
        </Fact>
      </Facts>
      <Code text={text} what="the context" />
    </section>
  );
}
