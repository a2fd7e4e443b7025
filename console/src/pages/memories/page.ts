import { definePage } from '../../page.ts';

export const memories = definePage({
  title: 'Memories',
  about: 'Every memory of this server that your key may see.',
  on: 'deployment',
  path: 'memories',
  icon: 'memories',
  needs: ['listMemories'],
  load: () => import('./memories.tsx'),
});
