// Observation: what a sensor, a model or a person perceived, at a time.
import { FLOAT, STRING } from '../codec/kind.ts';
import { LISTED, queryField } from './query-field.ts';
import type { TypeRow } from './row.ts';

export const OBSERVATION: TypeRow = {
  format: {
    byte: 0x06,
    fields: [
      ['observer_id', 'oid', STRING],
      ['observer_type', 'otype', STRING],
      ['frame_id', 'fid', STRING],
      ['sync_group', 'sg', STRING],
      ['observation_mode', 'omode', STRING],
      ['observation_scope', 'oscope', STRING],
      ['observer_model', 'omdl', STRING],
      ['compression_ratio', 'ocmp', FLOAT],
    ],
    required: ['observer_id', 'observer_type'],
    filled: ['observer_id', 'observer_type'],
    dated: true,
  },
  api: {
    names:
      'content object observer_id observer_type subject observer_model frame_id sync_group observation_mode ' +
      'observation_scope compression_ratio',
    aliases: {},
    answers: {},
    temporalType: 'state',
  },
  cal: {
    plural: 'observations',
    foreign: [],
    fields: [
      queryField('observer_id', 'string', '= !=', 'spg', LISTED),
      queryField('observer_type', 'string', '= !=', 'spg', LISTED),
    ],
    object: ['object', 'content'],
    relationIndexed: false,
    objectIndexed: false,
    addable: true,
    output: {
      attributes: 'observer=observer_id?',
      data: 'observer_id? object',
      columns: 'observer content',
      line: { note: 'observer' },
    },
  },
};
