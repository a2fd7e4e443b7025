import { definePage } from '../../page.ts';

export const cal = definePage({
  title: 'CAL',
  about: 'Queries in the query language, with their plans.',
  on: 'memory',
  path: 'cal',
  icon: 'cal',
  needs: ['cal'],
  load: () => import('./cal.tsx'),
});
