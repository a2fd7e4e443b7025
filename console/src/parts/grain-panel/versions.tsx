// The versions of a grain, newest first, each as what it changed.
import type { Json, Output } from 'granary-client';
import { useQuery } from '../../address.ts';
import { useAsk } from '../../ask.ts';
import { useSession } from '../../session.ts';
import { ErrorBox } from '../error-box.tsx';
import { Time } from '../grain.tsx';

type Version = Output<'history'>['versions'][number];

/** Further versions are read with the command that the note names. */
const VERSIONS_MAX = 200;

interface Props {
  readonly memory: string;
  readonly hash: string;
}

export function Versions({ memory, hash }: Props) {
  const { client } = useSession();
  const { value, error, again } = useAsk(`${memory} ${hash} history`, async (signal) => {
    const versions: Version[] = [];
    for await (const version of client.memory(memory).history(hash, { signal })) {
      versions.push(version);
      if (versions.length > VERSIONS_MAX) break;
    }
    return versions;
  });
  if (error !== undefined) return <ErrorBox error={error} again={again} />;
  if (value === undefined || value.length < 2) return null;
  const shown = value.slice(0, VERSIONS_MAX);
  return (
    <section class="section">
      <h3>{value.length > VERSIONS_MAX ? `The first ${VERSIONS_MAX} versions` : `${value.length} versions`}</h3>
      <ol class="versions">
        {shown
          .map((version, at) => <VersionItem key={version.hash} version={version} before={shown[at - 1]} open={hash} />)
          .toReversed()}
      </ol>
    </section>
  );
}

interface ItemProps {
  readonly version: Version;
  readonly before: Version | undefined;
  /** Hash of the version that the panel shows. */
  readonly open: string;
}

function VersionItem({ version, before, open }: ItemProps) {
  const query = useQuery();
  const changes = before === undefined ? [] : changesBetween(before.fields, version.fields);
  return (
    <li>
      <p>
        <a href={query.with({ grain: version.hash })} aria-current={version.hash === open ? 'true' : undefined}>
          <Time at={version.createdAt} />
        </a>{' '}
        <span class="faint">{before === undefined ? 'first version' : ''}</span>
      </p>
      {before === undefined ? (
        <p dir="auto">{version.text}</p>
      ) : (
        <dl class="diff">
          {changes.map(({ name, from, to }) => (
            <div key={name}>
              <dt>{name}</dt>
              {from !== undefined && (
                <dd class="removed" dir="auto">
                  <del>{from}</del>
                </dd>
              )}
              {to !== undefined && (
                <dd class="added" dir="auto">
                  <ins>{to}</ins>
                </dd>
              )}
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}

interface Change {
  readonly name: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

type Fields = Readonly<Record<string, Json>>;

/** Fields that differ in every version, and say nothing. */
const PASSED: ReadonlySet<string> = new Set(['created_at', 'superseded_by', 'derived_from']);
const SHOWN_CHARS = 600;

function changesBetween(before: Fields, after: Fields): readonly Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !PASSED.has(name));
  return names
    .map((name) => ({ name, from: textOf(before[name]), to: textOf(after[name]) }))
    .filter(({ from, to }) => from !== to);
}

function textOf(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`;
}
