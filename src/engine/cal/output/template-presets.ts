// The presets as templates. A template inherits the sections that it does not define. The preset `data` has none, because
// its output is not text.
import type { Sections } from '../ast.ts';
import { markdown, smlAttribute, trimmedLine } from './clean.ts';

export interface Preset {
  readonly sections: Sections;
  /** Cleans values, in the preset's own sections and in those of templates that extend it. */
  readonly clean: (text: string) => string;
}

const CONFIDENCE = (text: string): string =>
  `{{^grain.is_summary}}{{#grain.confidence}}${text}{{/grain.confidence}}{{/grain.is_summary}}`;

export const PRESETS = {
  readable: {
    clean: markdown,
    sections: {
      header:
        '{{#assembly.intent}}## Context: {{assembly.intent}}\n{{/assembly.intent}}{{^assembly.intent}}{{#assembly.name}}' +
        '## Context: {{assembly.name}}\n{{/assembly.name}}{{/assembly.intent}}',
      element: `- {{#grain.subject}}{{grain.subject}} {{/grain.subject}}{{grain.content}}${CONFIDENCE(' (confidence: {{grain.confidence}})')}`,
      source_break: '',
    },
  },
  structured: {
    clean: smlAttribute,
    sections: {
      header: '<context{{#assembly.intent}} intent="{{assembly.intent}}"{{/assembly.intent}}>\n',
      element:
        `  <{{grain.type}}{{#grain.subject}} subject="{{grain.subject}}"{{/grain.subject}}` +
        `${CONFIDENCE(' confidence="{{grain.confidence}}"')}>{{grain.content}}</{{grain.type}}>`,
      source_break: '',
      footer: '\n</context>',
    },
  },
  compact: {
    clean: trimmedLine,
    sections: {
      element: `[{{grain.type}}] {{#grain.subject}}{{grain.subject}} {{/grain.subject}}{{grain.content}}${CONFIDENCE(' ({{grain.confidence}})')}`,
    },
  },
} as const satisfies Readonly<Record<string, Preset>>;

export type PresetName = keyof typeof PRESETS;
