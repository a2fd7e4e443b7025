// Belief: something held to be so, as a subject, a relation and an object.
import type { TypeRow } from './row.ts';

export const BELIEF: TypeRow = {
  format: {
    byte: 0x01,
    alias: 'fact',
    fields: [],
    required: ['subject', 'relation', 'object', 'confidence'],
    filled: ['subject', 'relation'],
    dated: false,
  },
  api: {
    names: 'subject relation object',
    aliases: {},
    answers: {},
    temporalType: 'state',
  },
  cal: {
    plural: 'beliefs',
    foreign: ['fact'],
    fields: [],
    object: undefined,
    relationIndexed: true,
    objectIndexed: true,
    addable: true,
    output: {
      attributes: 'subject=subject confidence=confidence?',
      data: 'subject relation object confidence?',
      columns: 'subject content confidence',
      line: { lead: 'subject', isSentence: true, note: 'confidence' },
    },
  },
};
