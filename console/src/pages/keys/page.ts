import { definePage } from '../../page.ts';

export const keys = definePage({
  title: 'Keys',
  about: 'The API keys of this server: who may call, and for what.',
  on: 'deployment',
  path: 'keys',
  icon: 'keys',
  needs: ['listKeys'],
  load: () => import('./keys.tsx'),
});
