import { definePage } from '../../page.ts';

export const policy = definePage({
  title: 'Policy',
  about: 'The rules of this memory, and a preview of changes.',
  on: 'memory',
  path: 'policy',
  icon: 'policy',
  needs: ['policy'],
  load: () => import('./policy.tsx'),
});
