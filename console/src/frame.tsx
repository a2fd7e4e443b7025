// The frame of every page: navigation, the memory that is looked at, the caller, the theme.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { addressOf } from './address.ts';
import { MemoryChoice } from './memory-choice.tsx';
import type { Page } from './page.ts';
import { Icon } from './parts/icon.tsx';
import { CONSOLE } from './place.ts';
import { isReachable, memoryChanges, signOut, useSession } from './session.ts';
import { type Theme, theme } from './theme.ts';
import { leave } from './unsaved.ts';

const DEFAULT_MEMORY = 'default';

/** The memory in the address; undefined for pages of the deployment. */
function memoryIn(path: string): string | undefined {
  const [, encoded] = /^m\/([^/]+)/.exec(path.slice(CONSOLE.length)) ?? [];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    // The address is malformed; the page in the frame says so.
    return undefined;
  }
}

interface Props {
  readonly pages: readonly Page[];
  readonly children: ComponentChildren;
}

export function Frame({ pages, children }: Props) {
  const { path } = useLocation();
  const { caller } = useSession();
  const first = caller.memoryIds?.[0] ?? DEFAULT_MEMORY;
  const last = useRef(first);
  if (last.current === memoryChanges.value.deleted) last.current = first;
  const memory = memoryIn(path) ?? last.current;
  last.current = memory;
  const current = pages.find((page) => addressOf(page, memory).replace(/\/$/, '') === path.replace(/\/$/, ''));
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    document.title = current === undefined ? 'Granary' : `${current.title} · Granary`;
  }, [current]);
  return (
    <div class="frame" data-open={isOpen}>
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <header class="top">
        <button
          type="button"
          class="quiet menu-button"
          aria-expanded={isOpen}
          aria-controls="navigation"
          aria-label="Navigation"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'close' : 'menu'} />
        </button>
        <a class="brand" href={CONSOLE}>
          <img src={`${CONSOLE}icon.svg`} alt="" width="22" height="22" />
          <span>Granary</span>
        </a>
        <span class="top-space" />
        <ThemeChoice />
        <CallerInfo />
      </header>
      <nav id="navigation" aria-label="Pages">
        <PageList pages={pages.filter(({ on }) => on === 'deployment')} current={current} memory={memory} />
        <MemoryChoice memory={memory} current={current} />
        <PageList pages={pages.filter(({ on }) => on === 'memory')} current={current} memory={memory} />
      </nav>
      <main id="page" tabIndex={-1}>
        {!isReachable.value && <Unreachable />}
        {children}
      </main>
    </div>
  );
}

interface ListProps {
  readonly pages: readonly Page[];
  readonly current: Page | undefined;
  readonly memory: string;
}

function PageList({ pages, current, memory }: ListProps) {
  return (
    <ul>
      {pages.map((page) => (
        <li key={page.path}>
          <a href={addressOf(page, memory)} aria-current={page === current ? 'page' : undefined}>
            <Icon name={page.icon} />
            {page.title}
          </a>
        </li>
      ))}
    </ul>
  );
}

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

function ThemeChoice() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Theme: ${theme.value}. Change to ${next}`}
      title={`Theme: ${theme.value}`}
      onClick={() => {
        theme.value = next;
      }}
    >
      <Icon name={theme.value} />
    </button>
  );
}

function CallerInfo() {
  const { caller, isOpen } = useSession();
  const bound = [
    caller.memoryIds === undefined ? undefined : `memory ${caller.memoryIds.join(', ')}`,
    caller.namespace === undefined ? undefined : `namespace ${caller.namespace}`,
    caller.userId === undefined ? undefined : `user ${caller.userId}`,
  ].filter((one) => one !== undefined);
  return (
    <div class="caller">
      <span
        class="caller-name"
        title={[caller.actor, ...(bound.length === 0 ? [] : [`bound to ${bound.join(', ')}`])].join(', ')}
      >
        {caller.keyName ?? caller.actor}{' '}
        <span class="faint">{caller.scopes.filter((scope) => scope !== 'metrics').at(-1)}</span>
      </span>
      {!isOpen && (
        <button type="button" class="quiet" aria-label="Sign out" title="Sign out" onClick={() => leave(signOut)}>
          <Icon name="leave" />
        </button>
      )}
    </div>
  );
}

function Unreachable() {
  return (
    <p class="banner" role="status">
      The server does not answer. What you see may be out of date.
    </p>
  );
}
