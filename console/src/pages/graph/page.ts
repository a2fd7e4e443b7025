import { definePage } from '../../page.ts';

export const graph = definePage({
  title: 'Graph',
  about: 'What the beliefs of this memory connect, from a subject on.',
  on: 'memory',
  path: 'graph',
  icon: 'graph',
  needs: ['graph'],
  load: () => import('./graph.tsx'),
});
