// The panel beside a list, for the row that is open. On narrow pages it covers the list.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { leave } from '../unsaved.ts';
import { Icon } from './icon.tsx';

interface Props {
  readonly title: ComponentChildren;
  /** The title for readers that hear the page. */
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Panel({ title, label, onClose, children }: Props) {
  const panel = useRef<HTMLElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  // Before the page is painted, so that it does not take the focus from what a person chose meanwhile.
  useLayoutEffect(() => {
    const before = document.activeElement;
    panel.current?.focus({ preventScroll: true });
    // The row that was left may be gone; then the browser decides.
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <aside
      ref={panel}
      class="panel"
      tabIndex={-1}
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        leave(close.current);
      }}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" class="quiet" aria-label="Close the panel" onClick={() => leave(onClose)}>
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">{children}</div>
    </aside>
  );
}
