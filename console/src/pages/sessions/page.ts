import { definePage } from '../../page.ts';

export const sessions = definePage({
  title: 'Sessions',
  about: 'What agents did under one name: runs, conversations, tickets.',
  on: 'memory',
  path: 'sessions',
  icon: 'sessions',
  needs: ['listGrains', 'sessionBootstrap', 'sessionActions'],
  load: () => import('./sessions.tsx'),
});
