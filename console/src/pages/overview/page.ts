import { definePage } from '../../page.ts';

export const overview = definePage({
  title: 'Overview',
  about: 'The state of this server, and its options.',
  on: 'deployment',
  path: '',
  icon: 'overview',
  needs: ['config', 'health'],
  load: () => import('./overview.tsx'),
});
