import { definePage } from '../../page.ts';

export const recall = definePage({
  title: 'Recall',
  about: 'Ask this memory, and see why each answer is where it is.',
  on: 'memory',
  path: 'recall',
  icon: 'recall',
  needs: ['recall', 'openapi'],
  load: () => import('./recall.tsx'),
});
