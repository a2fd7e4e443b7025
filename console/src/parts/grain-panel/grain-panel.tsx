// A grain with all that is known of it: fields, versions, sources, who recalled it; and what can be done with it.
import type { GranaryError } from 'granary-client';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useQuery } from '../../address.ts';
import { useAsk } from '../../ask.ts';
import { allowed, useSession } from '../../session.ts';
import { Copy } from '../copy.tsx';
import { ErrorBox } from '../error-box.tsx';
import { counted, ExactTime, type Grain, HashText, TypeName } from '../grain.tsx';
import { Loading } from '../loading.tsx';
import { Panel } from '../panel.tsx';
import { Correct } from './correct.tsx';
import { FieldValue } from './field-value.tsx';
import { Forget, Restrict } from './remove.tsx';
import { Trail } from './trail.tsx';
import { Versions } from './versions.tsx';

interface Props {
  readonly memory: string;
  readonly hash: string;
  readonly onClose: () => void;
  /** Further acts of the page that shows the panel. */
  readonly more?: ComponentChildren;
  /** Called after a change, with the version to show now; undefined when the grain is gone. */
  readonly onChanged: (hash: string | undefined) => void;
}

export function GrainPanel({ memory, hash, onClose, more, onChanged }: Props) {
  const { client } = useSession();
  const { value, error, isLoading, again } = useAsk(`${memory} ${hash}`, (signal) =>
    client.memory(memory).get(hash, { signal }),
  );
  return (
    <Panel title={<Title grain={value} hash={hash} />} label={`Grain ${hash.slice(0, 12)}`} onClose={onClose}>
      {error !== undefined && <Missing error={error} again={again} />}
      {isLoading && value === undefined && <Loading what="the grain" />}
      {value !== undefined && more}
      {value !== undefined && <Details memory={memory} grain={value} onChanged={onChanged} />}
    </Panel>
  );
}

function Title({ grain, hash }: { readonly grain: Grain | undefined; readonly hash: string }) {
  return (
    <>
      {grain !== undefined && <TypeName type={grain.grainType} />} <HashText hash={hash} />
    </>
  );
}

function Missing({ error, again }: { readonly error: GranaryError; readonly again: () => void }) {
  return <ErrorBox error={error} again={error.retryable ? again : undefined} />;
}

interface DetailsProps {
  readonly memory: string;
  readonly grain: Grain;
  readonly onChanged: Props['onChanged'];
}

type Act = 'correct' | 'restrict' | 'forget';

function Details({ memory, grain, onChanged }: DetailsProps) {
  const query = useQuery();
  const [act, setAct] = useState<Act>();
  const close = (): void => setAct(undefined);
  const parts = { memory, grain, onClose: close, onChanged };
  const isCurrent = grain.versionStatus === 'current';
  const mayRestrict = grain.userId !== undefined && allowed.value.has('restrictProcessing');
  return (
    <>
      <p class="grain-text" dir="auto">
        {grain.text}
      </p>
      {!isCurrent && grain.supersededBy !== undefined && (
        <p class="old-note">
          This is an old version. <a href={query.with({ grain: grain.supersededBy })}>Show the next one</a>
        </p>
      )}
      <div class="buttons">
        {isCurrent && allowed.value.has('supersede') && (
          <button type="button" onClick={() => setAct('correct')}>
            Correct…
          </button>
        )}
        {mayRestrict && (
          <button type="button" onClick={() => setAct('restrict')}>
            Restrict…
          </button>
        )}
        {allowed.value.has('forget') && (
          <button type="button" class="danger" onClick={() => setAct('forget')}>
            Forget…
          </button>
        )}
      </div>
      <Fields grain={grain} />
      <Sources grain={grain} />
      {allowed.value.has('history') && <Versions memory={memory} hash={grain.hash} />}
      <Trail memory={memory} grain={grain} />
      {act === 'correct' && <Correct {...parts} />}
      {act === 'restrict' && <Restrict {...parts} />}
      {act === 'forget' && <Forget {...parts} />}
    </>
  );
}

function Fields({ grain }: { readonly grain: Grain }) {
  const { hash, createdAt, namespace, userId, sizeBytes, fields } = grain;
  const shown = Object.entries(fields).filter(([name]) => !SHOWN_APART.has(name));
  return (
    <section class="section">
      <h3>Fields</h3>
      <dl class="fields">
        {shown.map(([name, value]) => (
          <div key={name}>
            <dt>{breakable(name)}</dt>
            <dd>
              <FieldValue name={name} value={value} />
            </dd>
          </div>
        ))}
        <div>
          <dt>namespace</dt>
          <dd>{namespace}</dd>
        </div>
        {userId !== undefined && (
          <div>
            <dt>user_id</dt>
            <dd>{userId}</dd>
          </div>
        )}
        <div>
          <dt>created_at</dt>
          <dd>
            <ExactTime at={createdAt} />
          </dd>
        </div>
        <div>
          <dt>hash</dt>
          <dd>
            <code class="whole-hash">{hash}</code> <Copy text={hash} what="the hash" />
          </dd>
        </div>
        <div>
          <dt>size</dt>
          <dd>{counted(sizeBytes, 'byte')}</dd>
        </div>
      </dl>
    </section>
  );
}

const SHOWN_APART: ReadonlySet<string> = new Set(['namespace', 'user_id', 'created_at']);

function Sources({ grain }: { readonly grain: Grain }) {
  const query = useQuery();
  const derived = grain.fields['derived_from'];
  // One source alone is no list.
  const from = typeof derived === 'string' ? [derived] : Array.isArray(derived) ? derived.map(String) : [];
  const hashes = [...(grain.sources ?? []), ...from];
  if (hashes.length === 0) return null;
  return (
    <section class="section">
      <h3>Sources</h3>
      <ul class="plain-list">
        {[...new Set(hashes)].map((hash) => (
          <li key={hash}>
            <a href={query.with({ grain: hash })}>
              <HashText hash={hash} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The name of a field, which may be broken after each of its words. */
function breakable(name: string): ComponentChildren {
  return name.split(/(?<=_)/).map((part, at) => (at === 0 ? part : [<wbr key={part} />, part]));
}
