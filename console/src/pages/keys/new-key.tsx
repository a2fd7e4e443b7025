import { useId, useState } from 'preact/hooks';
import { useDo } from '../../ask.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { dayEnd } from '../../parts/filters.tsx';
import { useSession } from '../../session.ts';
import { shownOnce, useUnsaved } from '../../unsaved.ts';

interface Props {
  readonly onClose: () => void;
  readonly onMade: () => void;
}

const SCOPES = ['read', 'write', 'admin', 'metrics'] as const;

type Scope = (typeof SCOPES)[number];

/** Makes a key. Its secret is shown over all pages, this once. */
export function NewKey({ onClose, onMade }: Props) {
  const { client } = useSession();
  const id = useId();
  const [values, setValues] = useState({ name: '', memoryId: '', namespace: '', userId: '', expires: '' });
  const [scopes, setScopes] = useState<readonly Scope[]>(['read', 'write']);
  const doing = useDo(async () => {
    const given = (text: string): string | undefined => (text === '' ? undefined : text);
    const { name, memoryId, namespace, userId, expires } = values;
    const made = await client.operations.createKey({
      name: given(name),
      scopes,
      memoryId: given(memoryId),
      namespace: given(namespace),
      userId: given(userId),
      expiresAt: dayEnd(expires),
    });
    onMade();
    // The client repeats a request whose answer was lost, and nobody has the secret of that answer.
    if (made.rawKey === undefined)
      throw new Error(`The secret of ${made.keyId} was lost with the connection: revoke the key and make another.`);
    shownOnce.value = made.rawKey;
    onClose();
  });
  // The answer holds the secret.
  useUnsaved(doing.isRunning);
  const typed =
    (name: keyof typeof values) =>
    (event: { readonly currentTarget: { readonly value: string } }): void =>
      setValues({ ...values, [name]: event.currentTarget.value });
  const field = (name: keyof typeof values, label: string) => (
    <>
      <label for={`${id}-${name}`}>{label}</label>
      <input
        id={`${id}-${name}`}
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={values[name]}
        onInput={typed(name)}
      />
    </>
  );
  return (
    <Dialog title="New key" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void doing.run();
        }}
      >
        {field('name', 'Name')}
        <fieldset>
          <legend>Scopes</legend>
          {SCOPES.map((scope) => (
            <label key={scope} class="switch">
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={(event) =>
                  setScopes(
                    SCOPES.filter((one) => (one === scope ? event.currentTarget.checked : scopes.includes(one))),
                  )
                }
              />
              {scope}
            </label>
          ))}
        </fieldset>
        {field('memoryId', 'Memory; empty for all')}
        {field('namespace', 'Namespace; empty for all')}
        {field('userId', 'User; empty for all')}
        <label for={`${id}-expires`}>Last day; empty for ever</label>
        <input id={`${id}-expires`} type="date" value={values.expires} onInput={typed('expires')} />
        {doing.error !== undefined && <ErrorBox error={doing.error} />}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={scopes.length === 0 || doing.isRunning}>
            {doing.isRunning ? 'Working…' : 'Make it'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
