import { definePage } from '../../page.ts';

export const grains = definePage({
  title: 'Grains',
  about: 'All grains of this memory, newest first.',
  on: 'memory',
  path: 'grains',
  icon: 'grains',
  needs: ['listGrains', 'get'],
  load: () => import('./grains.tsx'),
});
