// Reasoning: a conclusion, what it was drawn from, and how.
import { BOOL, INT, listOf, MAP, STRING } from '../codec/kind.ts';
import * as shapes from '../rules/shapes.ts';
import { LISTED, queryField, SEARCH } from './query-field.ts';
import type { TypeRow } from './row.ts';

export const REASONING: TypeRow = {
  format: {
    byte: 0x08,
    fields: [
      ['premises', 'prem', listOf(STRING)], // addresses, or statements in words
      ['conclusion', 'conc', STRING],
      ['inference_method', 'imethod', STRING],
      ['alternatives_considered', 'altc', listOf(shapes.ALTERNATIVE)],
      ['thinking_content', 'think', STRING],
      ['thinking_redacted', 'tredact', BOOL],
      ['statistical_context', 'statctx', shapes.STATISTICAL_CONTEXT],
      ['software_environment', 'swenv', shapes.SOFTWARE_ENVIRONMENT],
      ['parameter_set', 'params', MAP],
      ['random_seed', 'rseed', INT],
    ],
    required: [],
    filled: [],
    dated: false,
  },
  api: {
    names: 'premises conclusion inference_method alternatives_considered thinking_content thinking_redacted',
    aliases: {},
    answers: {},
    temporalType: 'state',
  },
  cal: {
    plural: 'reasonings',
    foreign: [],
    fields: [
      queryField('reasoning_type', 'string', '=', 'spg', { stored: 'inference_method', ...LISTED }),
      queryField('premises', 'string', '=', 'p', SEARCH),
      queryField('conclusion', 'string', '= !=', 'sp'),
    ],
    object: undefined,
    relationIndexed: false,
    objectIndexed: true,
    addable: false,
    output: {
      attributes: 'type=reasoning_type?',
      data: 'reasoning_type? conclusion',
      columns: 'type content',
      line: { note: 'type' },
    },
  },
};
