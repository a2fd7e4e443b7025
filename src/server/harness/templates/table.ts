// The templates, by slug.
import { EngineError } from '../../../engine/base/errors.ts';
import { ACCOUNT_360 } from './account-360.ts';
import { BLANK } from './blank.ts';
import { MEETING_INTELLIGENCE } from './meeting-intelligence.ts';
import { POLICY_LIBRARY } from './policy-library.ts';
import { RFP_QUESTIONNAIRE } from './rfp-questionnaire.ts';
import { SALES_PLAYBOOK } from './sales-playbook.ts';
import { SUPPORT_COPILOT } from './support-copilot.ts';
import type { HarnessTemplate } from './template.ts';

export const TEMPLATES: readonly HarnessTemplate[] = [
  BLANK,
  ACCOUNT_360,
  MEETING_INTELLIGENCE,
  SUPPORT_COPILOT,
  SALES_PLAYBOOK,
  POLICY_LIBRARY,
  RFP_QUESTIONNAIRE,
];

/** HRN-E009 for another name. */
export function templateNamed(slug: string): HarnessTemplate {
  const template = TEMPLATES.find((one) => one.slug === slug);
  if (template !== undefined) return template;
  throw new EngineError('HRN-E009', `there is no template ${JSON.stringify(slug)}`, {
    details: [{ field: 'template', issue: `one of ${TEMPLATES.map((one) => one.slug).join(', ')}` }],
  });
}
