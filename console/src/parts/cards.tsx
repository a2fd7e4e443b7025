// Figures side by side.
import type { ComponentChildren } from 'preact';

export function Cards({ children }: { readonly children: ComponentChildren }) {
  return <dl class="cards">{children}</dl>;
}

interface Props {
  readonly label: string;
  /** True for words in place of a figure. */
  readonly isWords?: boolean | undefined;
  readonly children: ComponentChildren;
}

export function Card({ label, isWords, children }: Props) {
  return (
    <div class="card">
      <dt>{label}</dt>
      <dd class={isWords === true ? 'words' : undefined}>{children}</dd>
    </div>
  );
}

/** Names with their values, in two columns. */
export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
