// A page of the console, as the registry (pages.ts) lists it.
import type { DeploymentOperation, MemoryOperation } from 'granary-client';
import { type ComponentType, type FunctionComponent, h } from 'preact';
import { lazy, useRoute } from 'preact-iso';
import type { IconName } from './parts/icon.tsx';
import { neverMissing } from './parts/missing-page.tsx';
import type { Deployment } from './session.ts';

export interface PageRow {
  readonly title: string;
  /** One sentence that says what the page is for. */
  readonly about: string;
  /** Whether the page is of the whole server, or of the memory that its address names. */
  readonly on: 'deployment' | 'memory';
  /** Path below the console or the memory, such as `grains`; empty for the first page. */
  readonly path: string;
  readonly icon: IconName;
  /** Operations without which the page is nothing: it is hidden from callers who may not ask for all of them. */
  readonly needs: readonly (DeploymentOperation | MemoryOperation)[];
  /** False where the server's configuration says that it does not offer the page. */
  readonly isOffered?: ((deployment: Deployment) => boolean) | undefined;
  /** Loads the page's component, when the page is first shown. */
  readonly load: () => Promise<{ readonly default: FunctionComponent<PageProps> }>;
}

export interface Page extends Omit<PageRow, 'load'> {
  readonly component: ComponentType<PageProps>;
}

/** Properties of every page's component. */
export interface PageProps {
  /** Its own row, with its title. */
  readonly page: Page;
}

export function definePage({ load, ...row }: PageRow): Page {
  const Loaded = lazy(neverMissing(async () => (await load()).default));
  /** Begins anew with each memory: results and acts of one memory are not those of another. */
  function OfMemory(props: PageProps) {
    return h(Loaded, { ...props, key: useRoute().params['memory'] });
  }
  return { ...row, component: OfMemory };
}
