import type { Output } from 'granary-client';
import { useId, useState } from 'preact/hooks';
import { addressOf } from '../../address.ts';
import { useAsk, useDo } from '../../ask.ts';
import { Fact, Facts } from '../../parts/cards.tsx';
import { Confirm, type Count } from '../../parts/confirm.tsx';
import { Code } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ExactTime, HashText } from '../../parts/grain.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Panel } from '../../parts/panel.tsx';
import { allowed, useSession } from '../../session.ts';
import { useUnsaved } from '../../unsaved.ts';

const GRAINS = { on: 'memory', path: 'grains' } as const;

interface Props {
  readonly memory: string;
  readonly userId: string;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export function PersonPanel({ memory, userId, onClose, onChanged }: Props) {
  const { client } = useSession();
  const { operations } = client.memory(memory);
  const asked = useAsk(`${memory} ${userId}`, (signal) => operations.consentStatus({ userId }, { signal }));
  const [isErasing, setErasing] = useState(false);
  const [erased, setErased] = useState<Output<'forgetUser'>>();
  const person = asked.value?.users.find((one) => one.userId === userId);
  const isRestricted = person?.restricted === true;
  const changed = (): void => {
    asked.again();
    onChanged();
  };
  return (
    <Panel title={<span dir="auto">{userId}</span>} label={`User ${userId}`} onClose={onClose}>
      <div class="buttons">
        <a class="button primary" href={addressOf(GRAINS, memory, { user: userId })}>
          Show the stored data
        </a>
        {allowed.value.has('forgetUser') && (
          <button type="button" class="danger" onClick={() => setErasing(true)}>
            Erase…
          </button>
        )}
      </div>
      {asked.error !== undefined && <ErrorBox error={asked.error} again={asked.again} />}
      {asked.isLoading && asked.value === undefined && <Loading what="the consents" />}
      {erased !== undefined && <Erased result={erased} memory={memory} userId={userId} />}
      {asked.value !== undefined && (
        <Restriction key={String(isRestricted)} {...{ memory, userId, isRestricted }} onChanged={changed} />
      )}
      {person !== undefined && <Consents memory={memory} person={person} onChanged={changed} />}
      {isErasing && (
        <Erase
          memory={memory}
          userId={userId}
          onClose={() => setErasing(false)}
          onErased={(result) => {
            setErased(result);
            changed();
          }}
        />
      )}
    </Panel>
  );
}

interface RestrictionProps {
  readonly memory: string;
  readonly userId: string;
  readonly isRestricted: boolean;
  readonly onChanged: () => void;
}

function Restriction({ memory, userId, isRestricted, onChanged }: RestrictionProps) {
  const { client } = useSession();
  const { operations } = client.memory(memory);
  const id = useId();
  const [reason, setReason] = useState('');
  useUnsaved(reason !== '');
  const doing = useDo(async () => {
    const change = { userId, reason: reason === '' ? undefined : reason };
    await (isRestricted ? operations.liftRestriction(change) : operations.restrictProcessing(change));
    setReason('');
    onChanged();
  });
  const mayChange = allowed.value.has(isRestricted ? 'liftRestriction' : 'restrictProcessing');
  return (
    <section class="section">
      <h3>Processing</h3>
      <p>
        {isRestricted
          ? 'The data is frozen: it is kept, but cannot be read or changed.'
          : 'The data may be read and changed.'}
      </p>
      {mayChange && (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void doing.run();
          }}
        >
          <label for={id}>Reason, for the audit trail</label>
          <input id={id} value={reason} autocomplete="off" onInput={(event) => setReason(event.currentTarget.value)} />
          {doing.error !== undefined && <ErrorBox error={doing.error} />}
          <div class="buttons">
            <button type="submit" disabled={doing.isRunning}>
              {isRestricted ? 'Lift the restriction' : 'Restrict'}
            </button>
          </div>
        </form>
      )}
    </section>
  );
}

interface ConsentsProps {
  readonly memory: string;
  readonly person: Output<'consentStatus'>['users'][number];
  readonly onChanged: () => void;
}

function Consents({ memory, person, onChanged }: ConsentsProps) {
  const { client } = useSession();
  const { operations } = client.memory(memory);
  const revoke = useDo(async (purpose: string) => {
    await operations.revokeConsent({ userId: person.userId, purpose });
    onChanged();
  });
  return (
    <section class="section">
      <h3>Consents</h3>
      {revoke.error !== undefined && <ErrorBox error={revoke.error} />}
      <Facts>
        {person.purposes.map(({ purpose, status, grantedAt, revokedAt, basis, expiresAt, hash }) => (
          <Fact key={purpose} name={purpose === '*' ? 'every purpose' : purpose}>
            <span class={status === 'granted' ? 'good' : 'bad'}>{status}</span>{' '}
            {status === 'granted' && grantedAt !== undefined && <ExactTime at={grantedAt} />}
            {status === 'revoked' && revokedAt !== undefined && <ExactTime at={revokedAt} />}
            {basis !== undefined && ` on the basis “${basis}”`}
            {expiresAt !== undefined && (
              <>
                {' until '}
                <ExactTime at={expiresAt} />
              </>
            )}{' '}
            {hash !== undefined && <HashText hash={hash} />}{' '}
            {status === 'granted' && allowed.value.has('revokeConsent') && (
              <button type="button" disabled={revoke.isRunning} onClick={() => void revoke.run(purpose)}>
                Withdraw
              </button>
            )}
          </Fact>
        ))}
      </Facts>
    </section>
  );
}

interface EraseProps {
  readonly memory: string;
  readonly userId: string;
  readonly onClose: () => void;
  readonly onErased: (result: Output<'forgetUser'>) => void;
}

function Erase({ memory, userId, onClose, onErased }: EraseProps) {
  const { client } = useSession();
  const id = useId();
  const [reason, setReason] = useState('');
  const counted = useAsk(`${memory} ${userId} dry run`, async (signal) =>
    countsOf(await client.memory(memory).forgetUser(userId, { confirm: userId }, { dryRun: true, signal })),
  );
  return (
    <Confirm
      title={`Erase ${userId}?`}
      action={`Erase ${userId}`}
      name={userId}
      counts={counted.value}
      counting={counted}
      act={async () => {
        const why = reason === '' ? undefined : reason;
        onErased(await client.memory(memory).forgetUser(userId, { confirm: userId, reason: why }));
      }}
      onClose={onClose}
    >
      <p>
        The key of this person’s data is destroyed. No copy of the data, older backups included, can be read afterwards.
      </p>
      <label for={`${id}-reason`}>Reason, for the audit trail</label>
      <input id={`${id}-reason`} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
    </Confirm>
  );
}

function countsOf({ count, byType = {} }: Output<'forgetUser'>): readonly Count[] {
  return [{ label: 'Grains', value: count }, ...Object.entries(byType).map(([label, value]) => ({ label, value }))];
}

interface ErasedProps {
  readonly result: Output<'forgetUser'>;
  readonly memory: string;
  readonly userId: string;
}

/** The counts of an erasure and its signed proof. */
function Erased({ result: { count, keyFingerprint }, memory, userId }: ErasedProps) {
  const { client } = useSession();
  // Nobody of this id had a key: there is no erasure to prove.
  const isKnown = keyFingerprint !== '';
  const proof = useAsk(
    isKnown && allowed.value.has('erasureProof') ? `${memory} ${userId} proof` : undefined,
    (signal) => client.memory(memory).operations.erasureProof({ userId }, { signal }),
  );
  return (
    <section class="section" role="status">
      <h3>{isKnown ? 'Erased' : 'Nothing was stored under this id'}</h3>
      <Facts>
        <Fact name="Grains">{count}</Fact>
        {keyFingerprint !== undefined && isKnown && <Fact name="Destroyed key">{keyFingerprint}</Fact>}
      </Facts>
      {proof.error !== undefined && <ErrorBox error={proof.error} again={proof.again} />}
      {proof.value !== undefined && <Code text={JSON.stringify(proof.value.proof, null, 2)} what="the proof" />}
    </section>
  );
}
