// Every page, in the order of the navigation. A page is a folder of pages/ with its row in page.ts.
import type { Page } from './page.ts';
import { goals } from './pages/goals/page.ts';
import { grains } from './pages/grains/page.ts';
import { memories } from './pages/memories/page.ts';
import { overview } from './pages/overview/page.ts';
import { recall } from './pages/recall/page.ts';
import { sessions } from './pages/sessions/page.ts';
import { allowed, type Deployment } from './session.ts';

export const PAGES: readonly Page[] = [overview, memories, grains, recall, sessions, goals];

/** The pages that the caller may use on this server. */
export function shownPages(deployment: Deployment): readonly Page[] {
  return PAGES.filter(
    ({ needs, isOffered }) => needs.every((name) => allowed.value.has(name)) && isOffered?.(deployment) !== false,
  );
}
