import { definePage } from '../../page.ts';

export const metrics = definePage({
  title: 'Metrics',
  about: 'The health of this memory in figures, measured against limits.',
  on: 'memory',
  path: 'metrics',
  icon: 'metrics',
  needs: ['memoryMetrics'],
  load: () => import('./metrics.tsx'),
});
