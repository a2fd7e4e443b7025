import { definePage } from '../../page.ts';

export const graph = definePage({
  title: 'Graph',
  about: 'Subjects and objects of this memory, and the beliefs that connect them.',
  on: 'memory',
  path: 'graph',
  icon: 'graph',
  needs: ['graph', 'listEdges'],
  load: () => import('./graph.tsx'),
});
