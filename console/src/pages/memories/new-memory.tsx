import { useId, useState } from 'preact/hooks';
import { useDo } from '../../ask.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { useSession } from '../../session.ts';

interface Props {
  readonly onClose: () => void;
  readonly onMade: (id: string) => void;
}

export function NewMemory({ onClose, onMade }: Props) {
  const { client } = useSession();
  const [id, setId] = useState('');
  const [name, setName] = useState('');
  const field = useId();
  const doing = useDo(async () => {
    const made = await client.operations.createMemory({ id, name: name === '' ? undefined : name });
    onMade(made.id);
  });
  return (
    <Dialog title="New memory" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void doing.run();
        }}
      >
        <label for={`${field}-id`}>Id</label>
        <input
          id={`${field}-id`}
          required
          autocomplete="off"
          spellcheck={false}
          value={id}
          onInput={(event) => setId(event.currentTarget.value)}
        />
        <label for={`${field}-name`}>Name (optional)</label>
        <input
          id={`${field}-name`}
          autocomplete="off"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        {doing.error !== undefined && <ErrorBox error={doing.error} />}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={id === '' || doing.isRunning}>
            {doing.isRunning ? 'Working…' : 'Make it'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
