import { useId, useState } from 'preact/hooks';
import { type AddressQuery, useMemoryId, useQuery } from '../../address.ts';
import { type Asked, useAsk } from '../../ask.ts';
import type { PageProps } from '../../page.ts';
import { Code, Empty } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { GrainPanel } from '../../parts/grain-panel/grain-panel.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { SERVER } from '../../place.ts';
import { useSession } from '../../session.ts';
import { type Asking, calOf, curlOf, typeScriptOf } from './copies.ts';
import { type Field, inputOf, recallFields, type Settings, valueIn } from './fields.ts';
import './recall.css';
import { Results, type Timed } from './results.tsx';
import { SettingsTable, SIDES, type Side } from './settings.tsx';

/** The page shows these, so it asks for them unless a setting says otherwise. */
const SHOWN: Settings = { score_breakdown: true, explanation: true };

export default function Recall({ page }: PageProps) {
  const { client } = useSession();
  const memory = useMemoryId();
  const query = useQuery();
  const fields = useAsk('openapi', (signal) => recallFields(client, signal));
  const isCompared = query.one('compare') === '1';
  const sides = isCompared ? SIDES : SIDES.slice(0, 1);
  const open = query.one('grain');
  const isAsked = fields.value !== undefined && isAsking(query, fields.value);
  return (
    <PageFrame
      page={page}
      actions={
        <button
          type="button"
          aria-pressed={isCompared}
          onClick={() => query.set({ compare: isCompared ? undefined : '1' })}
        >
          Compare two settings
        </button>
      }
    >
      <Question />
      {fields.error !== undefined && <ErrorBox error={fields.error} again={fields.again} />}
      {fields.value !== undefined && (
        <div class="recall">
          <SettingsTable fields={fields.value} sides={sides} />
          <Answers memory={memory} fields={fields.value} sides={sides} />
        </div>
      )}
      {open !== '' && (
        <GrainPanel
          key={open}
          memory={memory}
          hash={open}
          onClose={() => query.set({ grain: undefined })}
          // The answer may hold what was changed or forgotten.
          onChanged={(next) => query.set({ grain: next, run: isAsked ? nextRun(query) : undefined })}
        />
      )}
    </PageFrame>
  );
}

function Question() {
  const query = useQuery();
  const id = useId();
  const asked = query.one('q');
  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault();
        const text = new FormData(event.currentTarget).get('q');
        const next = typeof text === 'string' ? text : '';
        // A repeated question is a new one: the memory may have changed.
        query.set({ q: next, run: next === asked ? nextRun(query) : '1' }, next === asked);
      }}
    >
      <label class="hidden-label" for={id}>
        Question
      </label>
      <input
        id={id}
        key={asked}
        name="q"
        type="search"
        dir="auto"
        autocomplete="off"
        placeholder="What do you want to know of this memory?"
        defaultValue={asked}
      />
      <button type="submit" class="primary">
        Recall
      </button>
    </form>
  );
}

/** The number of the same question, asked once more. */
function nextRun(query: AddressQuery): string {
  return String(Number(query.one('run')) + 1);
}

interface AnswersProps {
  readonly memory: string;
  readonly fields: readonly Field[];
  readonly sides: readonly Side[];
}

function Answers({ memory, fields, sides }: AnswersProps) {
  const query = useQuery();
  const a = useSide('a', { memory, fields, isAsked: true });
  const b = useSide('b', { memory, fields, isAsked: sides.length > 1 });
  if (!isAsking(query, fields))
    return (
      <Empty title="Nothing is asked yet" call={curlOf({ server: SERVER, memory, query: '…', settings: {} })}>
        Ask a question above, or set what to look for, such as a subject. Each change asks again. The call that the page
        makes:
      </Empty>
    );
  const isCompared = sides.length > 1;
  return (
    <div class="answers">
      <div class={isCompared ? 'sides' : undefined}>
        <Results
          title={isCompared ? 'A' : undefined}
          memory={memory}
          asked={a.asked}
          others={isCompared ? ranksIn(b.asked) : undefined}
        />
        {isCompared && <Results title="B" memory={memory} asked={b.asked} others={ranksIn(a.asked)} />}
      </div>
      <Copies asking={a.asking} title={isCompared ? 'Copy A as' : 'Copy as'} />
      {isCompared && <Copies asking={b.asking} title="Copy B as" />}
    </div>
  );
}

/** True when there is a question, or something to look for. */
function isAsking(query: AddressQuery, fields: readonly Field[]): boolean {
  return query.one('q') !== '' || query.one('run') !== '' || fields.some(({ name }) => query.one(`a.${name}`) !== '');
}

interface SideParts {
  readonly memory: string;
  readonly fields: readonly Field[];
  readonly isAsked: boolean;
}

function useSide(
  side: Side,
  { memory, fields, isAsked }: SideParts,
): { readonly asked: Asked<Timed>; readonly asking: Asking } {
  const { client } = useSession();
  const query = useQuery();
  const q = query.one('q');
  const settings: Settings = Object.fromEntries(
    fields.flatMap((field) => {
      const text = query.one(`${side}.${field.name}`);
      return text === '' ? [] : [[field.name, valueIn(field, text)]];
    }),
  );
  const key = isAsked && isAsking(query, fields) ? JSON.stringify([memory, q, settings, query.one('run')]) : undefined;
  const asked = useAsk<Timed>(key, async (signal) => {
    const start = performance.now();
    const answer = await client.memory(memory).operations.recall(inputOf(q, { ...SHOWN, ...settings }), { signal });
    return { answer, ms: performance.now() - start };
  });
  return { asked, asking: { server: SERVER, memory, query: q, settings } };
}

function ranksIn({ value }: Asked<Timed>): ReadonlyMap<string, number> | undefined {
  return value && new Map(value.answer.results.map(({ hash }, at) => [hash, at + 1]));
}

const FORMS = { curl: curlOf, TypeScript: typeScriptOf, CAL: calOf } as const;
type Form = keyof typeof FORMS;

function Copies({ asking, title }: { readonly asking: Asking; readonly title: string }) {
  const [form, setForm] = useState<Form>('curl');
  return (
    <section class="section">
      <h2>{title}</h2>
      <div class="buttons forms">
        {(Object.keys(FORMS) as Form[]).map((one) => (
          <button key={one} type="button" class="small" aria-pressed={form === one} onClick={() => setForm(one)}>
            {one}
          </button>
        ))}
      </div>
      <Code text={FORMS[form](asking)} what={`as ${form}`} />
    </section>
  );
}
