import { definePage } from '../../page.ts';

export const sessions = definePage({
  title: 'Sessions',
  about: 'Grains of agents by session: a run, a conversation or a ticket.',
  on: 'memory',
  path: 'sessions',
  icon: 'sessions',
  needs: ['listGrains', 'sessionBootstrap', 'sessionActions'],
  load: () => import('./sessions.tsx'),
});
