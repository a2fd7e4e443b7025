import { definePage } from '../../page.ts';

export const goals = definePage({
  title: 'Goals',
  about: 'Goals of agents by state, and their dependencies within a session.',
  on: 'memory',
  path: 'goals',
  icon: 'goals',
  needs: ['listGrains', 'sessionGoalTree'],
  load: () => import('./goals.tsx'),
});
