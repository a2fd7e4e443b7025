// Asks before what cannot be taken back: it shows what will go, in numbers, and wants the name typed.
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { type Asked, useDo } from '../ask.ts';
import { Dialog } from './dialog.tsx';
import { ErrorBox } from './error-box.tsx';

export interface Count {
  readonly label: string;
  readonly value: number | string;
}

interface Props {
  readonly title: string;
  /** The act as the button says it, such as "Erase ada". */
  readonly action: string;
  /** The text that must be typed. */
  readonly name: string;
  /** Numbers of what will go. Undefined while they are counted: the act waits for them. */
  readonly counts: readonly Count[] | undefined;
  /** How they are counted: its error takes their place. */
  readonly counting?: Pick<Asked<unknown>, 'error' | 'again'> | undefined;
  readonly children?: ComponentChildren;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
}

export function Confirm({ title, action, name, counts, counting, children, act, onClose }: Props) {
  const [typed, setTyped] = useState('');
  const id = useId();
  const doing = useDo(async () => {
    await act();
    onClose();
  });
  const isReady = typed === name && counts !== undefined && !doing.isRunning;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void doing.run();
        }}
      >
        {children}
        {counting?.error !== undefined && <ErrorBox error={counting.error} again={counting.again} />}
        {counts === undefined && counting?.error === undefined && <p role="status">Counting the affected data…</p>}
        {counts !== undefined && (
          <dl class="counts">
            {counts.map(({ label, value }) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{typeof value === 'number' ? value.toLocaleString('en') : value}</dd>
              </div>
            ))}
          </dl>
        )}
        <p class="warning">This cannot be undone.</p>
        <label for={id}>
          Type <b class="typed-name">{name}</b> to confirm
        </label>
        <input
          id={id}
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          data-passing
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        {doing.error !== undefined && <ErrorBox error={doing.error} />}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={!isReady}>
            {doing.isRunning ? 'Working…' : action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
