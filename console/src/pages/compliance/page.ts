import { definePage } from '../../page.ts';

export const compliance = definePage({
  title: 'Compliance',
  about: 'Checks of this memory against the regulations, and what fails.',
  on: 'memory',
  path: 'compliance',
  icon: 'compliance',
  needs: ['complianceMetrics', 'complianceViolations'],
  load: () => import('./compliance.tsx'),
});
