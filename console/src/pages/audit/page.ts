import { definePage } from '../../page.ts';

export const audit = definePage({
  title: 'Audit',
  about: 'Who did what in this memory, as its hash chain recorded it.',
  on: 'memory',
  path: 'audit',
  icon: 'audit',
  needs: ['audit'],
  load: () => import('./audit.tsx'),
});
