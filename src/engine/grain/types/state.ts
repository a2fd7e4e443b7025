// State: a snapshot of what an agent is in the middle of, as one map.
import { listOf, MAP, STRING } from '../codec/kind.ts';
import { OWN } from './own-fields.ts';
import { queryField, SEARCH } from './query-field.ts';
import type { TypeRow } from './row.ts';

export const STATE: TypeRow = {
  format: {
    byte: 0x03,
    fields: [
      ['plan', 'plan', listOf(STRING)],
      ['history', 'history', listOf(MAP)],
    ],
    required: ['context'],
    filled: [],
    dated: true,
  },
  api: {
    names: 'data context_data',
    aliases: { context_data: 'data' },
    // The format keeps the snapshot in `context`, which the contract gives to every type for something else.
    answers: { context: 'data', [OWN.commonContext]: 'context' },
    temporalType: 'state',
  },
  cal: {
    plural: 'states',
    foreign: ['checkpoint'],
    fields: [queryField('context', 'string', '= !=', 'spg'), queryField('plan', 'string', '=', 'p', SEARCH)],
    object: undefined,
    relationIndexed: false,
    objectIndexed: true,
    addable: false,
    output: {
      attributes: 'context=context?',
      data: 'context? plan',
      columns: 'context content',
      line: { note: 'context' },
    },
  },
};
