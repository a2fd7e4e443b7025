import type { Output } from 'granary-client';
import { useMemoryId, useQuery } from '../../address.ts';
import { useAsk } from '../../ask.ts';
import type { PageProps } from '../../page.ts';
import { Fact, Facts } from '../../parts/cards.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ExactTime } from '../../parts/grain.tsx';
import { Loading } from '../../parts/loading.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { allowed, useSession } from '../../session.ts';
import { ChangePolicy } from './change-policy.tsx';
import { ruleText } from './rule-text.ts';
import './policy.css';

export default function Policy({ page }: PageProps) {
  const memory = useMemoryId();
  const query = useQuery();
  const { client } = useSession();
  const version = query.one('version');
  const { value, error, isLoading, again } = useAsk(`${memory} ${version}`, (signal) =>
    client.memory(memory).operations.policy({ version: version === '' ? undefined : Number(version) }, { signal }),
  );
  const isChanging = query.one('change') === '1';
  return (
    <PageFrame
      page={page}
      actions={
        allowed.value.has('simulatePolicy') &&
        !isChanging && (
          <button type="button" class="primary" onClick={() => query.set({ change: '1', version: undefined })}>
            Try a change
          </button>
        )
      }
    >
      {error !== undefined && <ErrorBox error={error} again={again} />}
      {isLoading && value === undefined && <Loading what="the policy" />}
      {isChanging && (
        <ChangePolicy
          memory={memory}
          onClose={() => query.set({ change: undefined })}
          onChanged={() => {
            query.set({ change: undefined });
            again();
          }}
        />
      )}
      {value !== undefined && <Shown of={value} />}
    </PageFrame>
  );
}

function Shown({ of }: { readonly of: Output<'policy'> }) {
  const query = useQuery();
  const { presets, version, rules, overrides, sealedAt, sealedBy, reason, sealHash } = of;
  const set = new Set(pathsOf(overrides));
  return (
    <>
      <Facts>
        <Fact name="Presets">{presets.length === 0 ? 'none' : presets.join(', ')}</Fact>
        <Fact name="Version">
          {version === 0 ? 'none: the defaults hold' : version}
          {version > 1 && <a href={query.with({ version: String(version - 1) })}> the version before</a>}
          {query.one('version') !== '' && <a href={query.with({ version: undefined })}> the version in force</a>}
        </Fact>
        {version > 0 && (
          <Fact name="Sealed">
            <ExactTime at={sealedAt} />
            {sealedBy === undefined || sealedBy === '' ? '' : ` by ${sealedBy}`}
          </Fact>
        )}
        {reason !== undefined && reason !== null && <Fact name="Reason">{reason}</Fact>}
        {sealHash !== undefined && <Fact name="Seal">{sealHash}</Fact>}
      </Facts>
      <div class="rule-groups">
        {Object.entries(rules).map(([group, members]) => (
          <section key={group} class="section">
            <h2>{words(group)}</h2>
            <Facts>
              {Object.entries(members as object).map(([name, value]) => (
                <Fact key={name} name={words(name)}>
                  {ruleText(value)}
                  {set.has(`${snake(group)}.${snake(name)}`) && <span class="mark"> set here</span>}
                </Fact>
              ))}
            </Facts>
          </section>
        ))}
      </div>
    </>
  );
}

/** The dotted paths of rules that were set, given by group and name or as paths. */
function pathsOf(overrides: object): readonly string[] {
  return Object.entries(overrides).flatMap(([group, members]) =>
    typeof members === 'object' && members !== null && !Array.isArray(members) && !group.includes('.')
      ? Object.keys(members).map((name) => `${group}.${name}`)
      : [group],
  );
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const ABBREVIATIONS: ReadonlySet<string> = new Set(['ai', 'baa', 'dpa', 'dpia', 'id', 'pii', 'ttl']);

function words(name: string): string {
  const parts = snake(name).split('_');
  const text = parts.map((part) => (ABBREVIATIONS.has(part) ? part.toUpperCase() : part)).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
