import { definePage } from '../../page.ts';

export const overview = definePage({
  title: 'Overview',
  about: 'How this server is, and what it offers.',
  on: 'deployment',
  path: '',
  icon: 'overview',
  needs: ['config', 'health'],
  load: () => import('./overview.tsx'),
});
