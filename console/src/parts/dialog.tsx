// Modal dialogs: the frame of each, the question about what is unsaved, and a secret that is shown once.
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { leave, shownOnce, useUnsaved, waiting } from '../unsaved.ts';
import { Code } from './empty.tsx';

interface Props {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/**
 * A modal dialog. Escape closes it, and the focus returns to where it was. Once something is typed in it, Escape asks
 * first, unless the field is marked by `data-passing`.
 */
export function Dialog({ title, children, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [isTyped, setTyped] = useState(false);
  useUnsaved(isTyped);
  // Before the page is painted: a key that is pressed next must reach the dialog.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  const close = (): void => (isTyped ? leave(onClose) : onClose());
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onInput={({ target }) => {
        if (target instanceof Element && !target.matches('[data-passing]')) setTyped(true);
      }}
      onKeyDown={(event) => {
        // The browser would close the dialog at the second Escape without asking, and the panel under it would close too.
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClose={({ currentTarget }) => {
        // The browser has closed it, as by the gesture for back on a phone.
        if (!currentTarget.isConnected || currentTarget.open) return;
        currentTarget.showModal();
        close();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Asks whether what is unsaved may be lost. */
export function LeaveQuestion() {
  const go = waiting.value;
  if (go === undefined) return null;
  const stay = (): void => {
    waiting.value = undefined;
  };
  return (
    <Dialog title="Discard what you typed?" onClose={stay}>
      <p>It is not sent yet.</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={stay}>
          Keep it
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            stay();
            go();
          }}
        >
          Discard it
        </button>
      </div>
    </Dialog>
  );
}

/** The secret that the server cannot show again. Only the button closes it. */
export function ShownOnce() {
  const [isAsked, setAsked] = useState(false);
  const secret = shownOnce.value;
  if (secret === undefined) return null;
  return (
    <Dialog title="The new key" onClose={() => setAsked(true)}>
      <p class={isAsked ? 'warning' : undefined} role={isAsked ? 'alert' : undefined}>
        Copy it now. The server stores only its hash and cannot show it again.
      </p>
      <Code text={secret} what="the key" />
      <div class="buttons">
        <button
          type="button"
          class="primary"
          onClick={() => {
            setAsked(false);
            shownOnce.value = undefined;
          }}
        >
          I have copied it
        </button>
      </div>
    </Dialog>
  );
}
