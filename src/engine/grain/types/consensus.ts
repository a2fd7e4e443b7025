// Consensus: what several observers agree on, and how many of them.
import { ADDRESS, COUNT, INT, listOf, STRING, STRING_OR_MAP } from '../codec/kind.ts';
import { queryField } from './query-field.ts';
import type { TypeRow } from './row.ts';

const COMPARED = '= >= <= > <';

export const CONSENSUS: TypeRow = {
  format: {
    byte: 0x09,
    fields: [
      ['participating_observers', 'pobs', listOf(STRING)],
      ['threshold', 'thold', INT],
      ['agreement_count', 'agcnt', COUNT],
      ['dissent_count', 'discnt', COUNT],
      ['dissent_grains', 'disgrn', listOf(ADDRESS)],
      ['agreed_content', 'agcon', STRING_OR_MAP],
    ],
    required: ['participating_observers', 'threshold', 'agreement_count', 'dissent_count'],
    filled: [],
    dated: false,
  },
  api: {
    names: 'participating_observers threshold agreement_count dissent_count dissent_grains agreed_content',
    aliases: {},
    answers: {},
    temporalType: 'state',
  },
  cal: {
    plural: 'consensuses',
    foreign: [],
    fields: [
      queryField('threshold', 'number', COMPARED, 'sp'),
      queryField('agreement_count', 'number', COMPARED, 'sp'),
      queryField('participating_observers', 'array', 'INCLUDE', 'p'),
    ],
    object: ['agreed_content', 'object'],
    relationIndexed: false,
    objectIndexed: false,
    addable: false,
    output: {
      attributes: 'threshold=threshold? count=agreement_count?',
      data: 'object threshold? agreement_count?',
      columns: 'threshold count content',
      line: { note: 'threshold' },
    },
  },
};
