import { definePage } from '../../page.ts';

export const people = definePage({
  title: 'People',
  about: 'The persons in this memory: their consents, restrictions and erasure.',
  on: 'memory',
  path: 'people',
  icon: 'people',
  needs: ['consentStatus'],
  load: () => import('./people.tsx'),
});
