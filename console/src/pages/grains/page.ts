import { definePage } from '../../page.ts';

export const grains = definePage({
  title: 'Grains',
  about: 'All that this memory holds, newest first.',
  on: 'memory',
  path: 'grains',
  icon: 'grains',
  needs: ['listGrains', 'get'],
  load: () => import('./grains.tsx'),
});
