// Workflow: steps in a row, or a graph of nodes, and what sets them off.
import { ADDRESS, INT, listOf, recordOf, STRING } from '../codec/kind.ts';
import * as shapes from '../rules/shapes.ts';
import { queryField, SEARCH } from './query-field.ts';
import type { TypeRow } from './row.ts';

export const WORKFLOW: TypeRow = {
  format: {
    byte: 0x04,
    fields: [
      ['steps', 'steps', listOf(STRING)],
      ['trigger', 'trigger', STRING],
      ['nodes', 'nodes', listOf(STRING)],
      ['edges', 'edges', listOf(shapes.EDGE)],
      ['bindings', 'bind', recordOf(ADDRESS)],
      ['retries', 'retries', recordOf(INT)],
    ],
    required: [],
    filled: ['steps', 'trigger', 'nodes'],
    dated: false,
  },
  api: {
    names: 'nodes edges bindings retries trigger name status',
    aliases: {},
    answers: {},
    temporalType: 'state',
  },
  cal: {
    plural: 'workflows',
    foreign: [],
    fields: [queryField('trigger', 'string', '= !=', 'spg'), queryField('steps', 'string', '=', 'p', SEARCH)],
    object: undefined,
    relationIndexed: false,
    objectIndexed: true,
    addable: false,
    output: {
      attributes: 'trigger=trigger?',
      data: 'trigger? steps',
      columns: 'trigger content',
      line: { note: 'trigger' },
    },
  },
};
