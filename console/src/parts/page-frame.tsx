// The head of a page, and the place of what it shows.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Page } from '../page.ts';
import { noteShown } from '../session.ts';

interface Props {
  readonly page: Page;
  /** Buttons beside the title. */
  readonly actions?: ComponentChildren;
  /** True where a list takes the height that is left. */
  readonly fills?: boolean | undefined;
  readonly children: ComponentChildren;
}

export function PageFrame({ page, actions, fills, children }: Props) {
  useEffect(() => noteShown(page.needs), [page]);
  return (
    <div class={fills === true ? 'page fills' : 'page'}>
      <div class="page-head">
        <div>
          <h1>{page.title}</h1>
          <p>{page.about}</p>
        </div>
        {actions !== undefined && <div class="buttons">{actions}</div>}
      </div>
      {children}
    </div>
  );
}
