import type { JsonObject, Output } from 'granary-client';
import { useEffect, useState } from 'preact/hooks';
import { addressOf, useMemoryId, useQuery } from '../../address.ts';
import { useAsk } from '../../ask.ts';
import type { PageProps } from '../../page.ts';
import { Code } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { counted } from '../../parts/grain.tsx';
import { Loading } from '../../parts/loading.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { useSession } from '../../session.ts';
import { useUnsaved } from '../../unsaved.ts';
import { Editor, type Vocabulary } from './editor.tsx';
import './cal.css';

const GRAINS = { on: 'memory', path: 'grains' } as const;
const FIRST = 'RECALL beliefs RECENT 20';

export default function Cal({ page }: PageProps) {
  const memory = useMemoryId();
  const query = useQuery();
  const { client } = useSession();
  const { operations } = client.memory(memory);
  const sent = query.one('q');
  const [typed, setTyped] = useState(sent === '' ? FIRST : sent.replace(EXPLAIN, ''));
  const isPlan = EXPLAIN.test(sent);
  const words = useAsk(`${memory} words`, async (signal) => {
    const describe = async (what: string): Promise<JsonObject> =>
      infoOf(await operations.cal({ query: `DESCRIBE ${what}` }, { signal }));
    return vocabularyOf(await describe('grammar'), await describe('fields'), await describe('grain_types'));
  });
  const asked = `${sent} ${query.one('run')}`;
  // The question that a person has just sent. Only that one may write: an address may come from somebody else.
  const [pressed, setPressed] = useState<string>();
  const waits = mayWrite(sent) && pressed !== asked;
  const answer = useAsk(sent === '' || waits ? undefined : `${memory} ${asked}`, (signal) =>
    operations.cal({ query: sent }, { signal }),
  );
  const plain = sent.replace(EXPLAIN, '');
  useUnsaved(typed.trim() !== '' && typed !== FIRST && typed.replace(EXPLAIN, '') !== plain);
  useEffect(() => {
    setPressed((before) => (before === asked ? before : undefined));
    // The way back shows the query whose answer it shows.
    if (sent !== '' && typed !== sent) setTyped(plain);
  }, [asked]);
  const run = (isExplained: boolean): void => {
    if (typed.trim() === '') return;
    // A repeated query is a new question: the memory may have changed.
    const next = isExplained ? `EXPLAIN ${typed.replace(EXPLAIN, '')}` : typed;
    const times = next === sent ? String(Number(query.one('run')) + 1) : undefined;
    setPressed(`${next} ${times ?? ''}`);
    query.set({ q: next, run: times });
  };
  return (
    <PageFrame page={page}>
      <Editor text={typed} vocabulary={words.value} onChange={setTyped} onRun={() => run(false)} />
      <div class="buttons cal-buttons">
        <button type="button" class="primary" onClick={() => run(false)}>
          Run
        </button>
        <button type="button" onClick={() => run(true)}>
          Explain
        </button>
        <span class="hint">Ctrl+Enter runs the query, Ctrl+Space completes a word.</span>
      </div>
      {waits && (
        <p role="status">This query comes from the link that you opened, and may change the memory. Run sends it.</p>
      )}
      {answer.error !== undefined && <ErrorBox error={answer.error} again={answer.again} />}
      {answer.isLoading && <Loading what={isPlan ? 'the plan' : 'the answer'} />}
      {answer.value !== undefined && !answer.isLoading && <Answer of={answer.value} memory={memory} />}
    </PageFrame>
  );
}

const EXPLAIN = /^\s*EXPLAIN\s+/i;

/** True for a text that may be a writing statement, and for JSON, whose words may be escaped. */
function mayWrite(text: string): boolean {
  return /\b(?:ADD|SUPERSEDE|REVERT|DEFINE)\b|^\s*\{/iu.test(text);
}

function Answer({ of, memory }: { readonly of: Output<'cal'>; readonly memory: string }) {
  const { result, warnings, statementType, executionTimeMs, resultCount } = of;
  const { content } = result;
  const grains = grainsOf(result);
  return (
    <section class="section">
      <p role="status">{`${statementType}: ${counted(resultCount, 'item')} in ${executionTimeMs.toFixed(1)} ms`}</p>
      {warnings.length > 0 && (
        <ul class="notes">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {typeof content === 'string' && <Code text={content} what="the context" />}
      {grains.length > 0 && (
        <ol class="cal-grains">
          {grains.map(({ hash, text }) => (
            <li key={hash}>
              <a dir="auto" href={addressOf(GRAINS, memory, { grain: hash })}>
                {text}
              </a>
            </li>
          ))}
        </ol>
      )}
      <details open={typeof content !== 'string' && grains.length === 0}>
        <summary>As JSON</summary>
        <Code text={JSON.stringify(result, null, 2)} what="the result" />
      </details>
    </section>
  );
}

interface Line {
  readonly hash: string;
  readonly text: string;
}

/** The grains of an answer, as sentences. */
function grainsOf(result: JsonObject): readonly Line[] {
  const list = Array.isArray(result['grains']) ? result['grains'] : [];
  return list.flatMap((one): Line[] => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return [];
    const { hash, text } = one as JsonObject; // not a list
    return typeof hash === 'string' && typeof text === 'string' ? [{ hash: hash.replace('sha256:', ''), text }] : [];
  });
}

function infoOf({ result }: Output<'cal'>): JsonObject {
  const { info } = result;
  return typeof info === 'object' && info !== null && !Array.isArray(info) ? (info as JsonObject) : {};
}

/** Keywords are the quoted capitals of the grammar. */
function vocabularyOf(grammar: JsonObject, described: JsonObject, types: JsonObject): Vocabulary {
  const text = String(grammar['grammar'] ?? '');
  const fields = listOf(described['fields']).map(({ name, operators }) => ({
    name: String(name),
    about: Array.isArray(operators) ? operators.join(' ') : '',
  }));
  return {
    keywords: [...new Set([...text.matchAll(/"([A-Z][A-Z_]+)"/g)].map(([, word = '']) => word))].sort(),
    fields,
    types: listOf(types['grain_types'] ?? types['types']).map(({ plural, name }) => String(plural ?? name)),
  };
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one): one is JsonObject => typeof one === 'object' && one !== null) : [];
}
