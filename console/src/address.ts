// Addresses of pages. All that a page shows is in its address: the memory in the path, filters and what is open in the query.
import { useEffect, useRef } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import type { Page } from './page.ts';
import { CONSOLE } from './place.ts';

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The address of a page. Without `memory` only for pages of the deployment. */
export function addressOf(page: Pick<Page, 'on' | 'path'>, memory?: string, query: Query = {}): string {
  const path = page.on === 'memory' ? `m/${encodeURIComponent(memory ?? '')}/${page.path}` : page.path;
  return `${CONSOLE}${path}${queryText(query)}`;
}

/** The pattern of a page's addresses, for the router. */
export function patternOf(page: Pick<Page, 'on' | 'path'>): string {
  return `${CONSOLE}${page.on === 'memory' ? `m/:memory/${page.path}` : page.path}`;
}

function queryText(query: Query): string {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) if (one !== '') all.append(name, one);
  const text = all.toString();
  return text === '' ? '' : `?${text}`;
}

/** The memory that the address names. */
export function useMemoryId(): string {
  return useRoute().params['memory'] ?? '';
}

export interface AddressQuery {
  /** The value of a name; empty without one. */
  readonly one: (name: string) => string;
  /** All values of a name. */
  readonly all: (name: string) => readonly string[];
  /**
   * Sets or, with undefined, removes values. `replace` leaves no step in the history, as for each letter of a word. Does
   * nothing once the component or its page is gone: what was under way does not lead back to a page that a person has left.
   */
  readonly set: (changes: Query, replace?: boolean) => void;
  /** The present address with these changes, for a link. */
  readonly with: (changes: Query) => string;
}

/** The query of the address. */
export function useQuery(): AddressQuery {
  const { url, route } = useLocation();
  const isGone = useRef(false);
  useEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );
  const latest = useRef(url);
  latest.current = url;
  const [path, text] = partsOf(url);
  const values = new URLSearchParams(text);
  return {
    one: (name) => values.get(name) ?? '',
    all: (name) => values.getAll(name),
    set: (changes, replace = false) => {
      if (isGone.current || partsOf(latest.current)[0] !== path) return;
      // The caller may have been drawn before other changes of the address: those stay.
      const next = changed(latest.current, changes);
      // A step to where one is would only lengthen the way back.
      if (next !== `${location.pathname}${location.search}`) route(next, replace);
    },
    with: (changes) => changed(url, changes),
  };
}

/** Path and query of an address. */
function partsOf(url: string): readonly [path: string, query: string] {
  const at = url.indexOf('?');
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

function changed(url: string, changes: Query): string {
  const [path, text] = partsOf(url);
  const values = new URLSearchParams(text);
  const next: Record<string, string | readonly string[] | undefined> = {};
  for (const name of new Set(values.keys())) next[name] = values.getAll(name);
  return `${path}${queryText({ ...next, ...changes })}`;
}
