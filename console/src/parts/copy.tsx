// A button that copies a text.
import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface Props {
  readonly text: string;
  /** Names what is copied, after "Copy". */
  readonly what: string;
  /** Shows these words beside the icon. */
  readonly label?: string | undefined;
}

/** Time for which the button says that it copied. */
const SAID_MS = 1_500;

export function Copy({ text, what, label }: Props) {
  const [said, setSaid] = useState<'Copied' | 'Not copied'>();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      // A page that came over plain HTTP from another machine may not copy.
      setSaid('Not copied');
    }
    setTimeout(() => setSaid(undefined), SAID_MS);
  };
  return (
    <>
      <button
        type="button"
        class={label === undefined ? 'copy quiet' : 'copy'}
        aria-label={label === undefined ? `Copy ${what}` : undefined}
        onClick={copy}
      >
        <Icon name="copy" />
        {label !== undefined && <span>{said ?? label}</span>}
        {label === undefined && said !== undefined && <span>{said}</span>}
      </button>
      {/* The label hides the word in the button from readers that hear the page. */}
      <span class="hidden-label" role="status">
        {said}
      </span>
    </>
  );
}
