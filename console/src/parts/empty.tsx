// An empty page: it says which call fills it.
import type { ComponentChildren } from 'preact';
import { Copy } from './copy.tsx';

interface Props {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** The call, as a command line of curl or a line of TypeScript. */
  readonly call?: string | undefined;
}

export function Empty({ title, children, call }: Props) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {call !== undefined && <Code text={call} what="the call" />}
    </div>
  );
}

/** A block of code that can be copied. */
export function Code({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} what={what} />
    </div>
  );
}
