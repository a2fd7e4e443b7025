// Every page, in the order of the navigation. A page is a folder of pages/ with its row in page.ts.
import type { Page } from './page.ts';
import { audit } from './pages/audit/page.ts';
import { cal } from './pages/cal/page.ts';
import { compliance } from './pages/compliance/page.ts';
import { goals } from './pages/goals/page.ts';
import { grains } from './pages/grains/page.ts';
import { graph } from './pages/graph/page.ts';
import { keys } from './pages/keys/page.ts';
import { memories } from './pages/memories/page.ts';
import { metrics } from './pages/metrics/page.ts';
import { overview } from './pages/overview/page.ts';
import { people } from './pages/people/page.ts';
import { policy } from './pages/policy/page.ts';
import { recall } from './pages/recall/page.ts';
import { sessions } from './pages/sessions/page.ts';
import { allowed, type Deployment } from './session.ts';

export const PAGES: readonly Page[] = [
  overview,
  memories,
  grains,
  recall,
  cal,
  graph,
  sessions,
  goals,
  people,
  policy,
  compliance,
  audit,
  metrics,
  keys,
];

/** The pages that the caller may use on this server. */
export function shownPages(deployment: Deployment): readonly Page[] {
  return PAGES.filter(
    ({ needs, isOffered }) => needs.every((name) => allowed.value.has(name)) && isOffered?.(deployment) !== false,
  );
}
