// A page that cannot be shown.
import type { ComponentChildren } from 'preact';

export function Fault({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="fault">
      <h1>{title}</h1>
      <p>{children}</p>
    </section>
  );
}
