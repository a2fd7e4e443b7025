// Event: what was said or what happened, at a time.

import { ADDRESS, BOOL, listOf, STRING } from '../codec/kind.ts';
import * as shapes from '../rules/shapes.ts';
import { LISTED, queryField, SEARCH } from './query-field.ts';
import type { TypeRow } from './row.ts';

export const EVENT: TypeRow = {
  format: {
    byte: 0x02,
    fields: [
      ['content', 'content', STRING],
      ['consolidated', 'consolidated', BOOL],
      ['content_blocks', 'cblocks', listOf(shapes.CONTENT_BLOCK)],
      ['model_id', 'mdl', STRING],
      ['stop_reason', 'stopr', STRING],
      ['token_usage', 'toku', shapes.TOKEN_USAGE],
      ['parent_message_id', 'pmid', ADDRESS],
    ],
    required: [],
    filled: [],
    dated: true,
  },
  api: {
    names: 'content subject object role parent_message_id content_blocks model_id stop_reason token_usage run_id',
    aliases: {},
    answers: {},
    temporalType: 'event',
  },
  cal: {
    plural: 'events',
    foreign: ['episode'],
    fields: [
      queryField('role', 'string', '= !=', 'spg', LISTED),
      queryField('session_id', 'string', '=', 'spg'),
      queryField('parent_message_id', 'string', '=', 'p'),
      queryField('model_id', 'string', '= !=', 'spg', LISTED),
      queryField('content', 'string', '=', 'p', SEARCH),
    ],
    object: undefined,
    relationIndexed: false,
    objectIndexed: true,
    addable: false,
    output: {
      attributes: 'role=role time=time?',
      data: 'role content time?',
      columns: 'role time content',
      line: { lead: 'role', note: 'time' },
    },
  },
};
