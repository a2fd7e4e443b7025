// The templates, by slug.
import { EngineError } from '../../engine/base/errors.ts';
import { ASSEMBLE_QUERY_DEFAULT } from './definition.ts';
import type { HarnessTemplate } from './template.ts';

const BLANK: HarnessTemplate = {
  slug: 'blank',
  name: 'Blank',
  description: 'An agent without a purpose of its own: state its goal and its prompt.',
  systemPrompt: '',
  assembleQuery: ASSEMBLE_QUERY_DEFAULT,
  tools: [],
};

export const TEMPLATES: readonly HarnessTemplate[] = [BLANK];

/** HRN-E009 for another name. */
export function templateNamed(slug: string): HarnessTemplate {
  const template = TEMPLATES.find((one) => one.slug === slug);
  if (template !== undefined) return template;
  throw new EngineError('HRN-E009', `there is no template ${JSON.stringify(slug)}`, {
    details: [{ field: 'template', issue: `one of ${TEMPLATES.map((one) => one.slug).join(', ')}` }],
  });
}
