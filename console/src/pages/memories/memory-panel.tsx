import { useState } from 'preact/hooks';
import { addressOf } from '../../address.ts';
import { useAsk } from '../../ask.ts';
import { Fact, Facts } from '../../parts/cards.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { bytesText, count, TypeName } from '../../parts/grain.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Panel } from '../../parts/panel.tsx';
import { allowed, useSession } from '../../session.ts';

const GRAINS = { on: 'memory', path: 'grains' } as const;

interface Props {
  readonly id: string;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function MemoryPanel({ id, onClose, onDeleted }: Props) {
  const { client } = useSession();
  const memory = client.memory(id);
  const { value, error, isLoading, again } = useAsk(allowed.value.has('stats') ? id : undefined, (signal) =>
    memory.operations.stats({}, { signal }),
  );
  const [isDeleting, setDeleting] = useState(false);
  const present = isLoading || error !== undefined ? undefined : value;
  return (
    <Panel title={id} label={`Memory ${id}`} onClose={onClose}>
      <div class="buttons">
        <a class="button primary" href={addressOf(GRAINS, id)}>
          Show its grains
        </a>
        {allowed.value.has('deleteMemory') && (
          <button
            type="button"
            class="danger"
            onClick={() => {
              // The panel may have been open for long.
              again();
              setDeleting(true);
            }}
          >
            Delete…
          </button>
        )}
      </div>
      {error !== undefined && <ErrorBox error={error} again={again} />}
      {isLoading && value === undefined && <Loading what="the figures" />}
      {value !== undefined && (
        <>
          <Facts>
            <Fact name="Grains">{count(value.totalGrains)}</Fact>
            <Fact name="Old versions">{count(value.supersededGrains)}</Fact>
            <Fact name="Users">{count(value.users)}</Fact>
            <Fact name="Relations">{count(value.triples)}</Fact>
            {value.vectors !== undefined && <Fact name="Vectors">{count(value.vectors)}</Fact>}
            {value.auditEntries !== undefined && <Fact name="Audit entries">{count(value.auditEntries)}</Fact>}
            <Fact name="On disk">{bytesText(value.diskSpaceBytes)}</Fact>
            <Fact name="Policy">{value.hasPolicy ? 'set' : 'none'}</Fact>
            <Fact name="Index lag">{count(value.indexLag ?? 0)}</Fact>
            <Fact name="Purges pending">{count(value.purgePending ?? 0)}</Fact>
          </Facts>
          <TypeCounts counts={value.typeCounts} />
          {value.namespaces.length > 0 && (
            <section class="section">
              <h3>Namespaces</h3>
              <ul class="inline-list">
                {value.namespaces.map((namespace) => (
                  <li key={namespace}>
                    <a href={addressOf(GRAINS, id, { namespace })}>{namespace}</a>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
      {isDeleting && (
        <Confirm
          title={`Delete the memory ${id}?`}
          action={`Delete ${id}`}
          name={id}
          counts={
            present && [
              { label: 'Grains', value: present.totalGrains },
              { label: 'Old versions', value: present.supersededGrains },
              { label: 'Users', value: present.users },
              { label: 'Audit entries', value: present.auditEntries ?? 0 },
            ]
          }
          counting={{ error, again }}
          act={async () => {
            await client.deleteMemory(id, { confirm: id });
            onDeleted();
          }}
          onClose={() => setDeleting(false)}
        >
          <p>Its data is destroyed with its keys. A backup without the keys cannot restore it.</p>
        </Confirm>
      )}
    </Panel>
  );
}

function TypeCounts({ counts }: { readonly counts: object }) {
  const held = Object.entries(counts).filter(([, number]) => Number(number) > 0);
  if (held.length === 0) return null;
  return (
    <section class="section">
      <h3>Types</h3>
      <ul class="type-counts">
        {held.map(([type, number]) => (
          <li key={type}>
            <TypeName type={type} /> {count(Number(number))}
          </li>
        ))}
      </ul>
    </section>
  );
}
