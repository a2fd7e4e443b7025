import { definePage } from '../../page.ts';

export const goals = definePage({
  title: 'Goals',
  about: 'What agents want to reach, by state, and how the goals of a session depend on each other.',
  on: 'memory',
  path: 'goals',
  icon: 'goals',
  needs: ['listGrains', 'sessionGoalTree'],
  load: () => import('./goals.tsx'),
});
