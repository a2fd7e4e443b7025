import { definePage } from '../../page.ts';

export const policy = definePage({
  title: 'Policy',
  about: 'The rules of this memory, and what a change of them would mean.',
  on: 'memory',
  path: 'policy',
  icon: 'policy',
  needs: ['policy'],
  load: () => import('./policy.tsx'),
});
